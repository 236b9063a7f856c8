//! Documents and folders agree with the code, because documents rot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use scorelake::assets::Assets;
use scorelake::explore::questions;
use scorelake::pipeline::{Output, Pipeline, SqlFile};
use scorelake::schema::TableSchema;
use scorelake::schema::dataset::Dataset;

use super::util::project;

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![project().join(folder)];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "{folder}");
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(project()).unwrap().to_string_lossy().into_owned()
}

#[test]
fn files_are_short_and_say_what_they_are_for() {
    for path in files("src", "rs").into_iter().chain(files("tests", "rs")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().count();
        let limit = if path.starts_with(project().join("src")) { 400 } else { 500 };
        assert!(lines <= limit, "{}: {lines} lines", relative(&path));
        assert!(text.starts_with("//! "), "{}: no header", relative(&path));
    }
    let main = std::fs::read_to_string(project().join("src/main.rs")).unwrap();
    assert!(main.lines().count() < 40);
}

/// Stages in the order data flows; a stage imports only earlier ones and the base.
#[test]
fn imports_follow_the_data() {
    const STAGES: [&str; 7] = ["source", "ingest", "lake", "score", "stats", "snapshot", "report"];
    const BASE: [&str; 10] =
        ["assets", "correlation", "error", "exact", "grid", "pipeline", "python", "random", "schema", "store"];
    let place = |name: &str| STAGES.iter().position(|stage| *stage == name);
    for path in files("src", "rs") {
        let name = relative(&path);
        let module = name.trim_start_matches("src/").split(['/', '.']).next().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        for piece in text.split("crate::").skip(1) {
            let used = piece.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
            match (place(&module), place(used)) {
                (Some(own), Some(other)) => assert!(other <= own, "{name} imports {used}, a later stage"),
                (Some(_), None) => assert!(BASE.contains(&used) || used == "Error", "{name} imports {used}"),
                // The hexadecimal of a digest is a thing of bytes, so the base may ask the source for it.
                (None, Some(_)) if BASE.contains(&module.as_str()) => {
                    assert!(piece.starts_with("source::hex"), "{name} imports {used}, a stage");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn only_the_printer_prints() {
    for path in files("src", "rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = relative(&path);
        for word in ["io::stdout()", "io::stderr()"] {
            let allowed =
                name == "src/cli/printer.rs" || name == "src/cli/commands/synth/mod.rs" && word == "io::stdout()";
            assert!(allowed || !text.contains(word), "{name} writes to {word}");
        }
    }
}

#[test]
fn every_sql_file_is_used_and_ordered() {
    let assets = Assets::embedded();
    let mut used: BTreeSet<String> = questions(&assets).unwrap().into_iter().map(|question| question.path).collect();
    for dataset in Dataset::all(&assets).unwrap() {
        for pipeline in Pipeline::of_dataset(&assets, &dataset.id).unwrap() {
            used.extend(pipeline.steps.iter().map(|step| format!("sql/{}", step.sql)));
            used.extend(pipeline.findings.iter().map(|finding| format!("sql/{}", finding.sql)));
            used.extend(pipeline.checks.iter().map(|check| format!("sql/{}", check.sql)));
            used.extend(pipeline.samples.iter().map(|sample| format!("sql/{}", sample.sql)));
            used.extend(pipeline.gates.iter().map(|gate| format!("sql/{}", gate.sql)));
        }
        used.extend(assets.list(&format!("sql/{}/lake", dataset.sql_schema), "sql").unwrap());
    }
    used.extend(assets.list("sql/consistency", "sql").unwrap());
    let there: BTreeSet<String> = files("sql", "sql").iter().map(|path| relative(path)).collect();
    assert_eq!(there, used, "files in sql/ and files that something names");
    for path in &there {
        let file = SqlFile::parse(path, assets.text(path).unwrap()).unwrap();
        if matches!(file.output, Output::Table | Output::Check | Output::Explore | Output::Finding | Output::Gate) {
            let order = file.text.rsplit("ORDER BY").next().unwrap();
            assert!(!order.contains("FROM"), "{path} does not end in ORDER BY");
            for column in &file.key {
                let mut words = order.split(|c: char| !c.is_alphanumeric() && c != '_');
                assert!(words.any(|word| word == column), "{path}: ORDER BY lacks the key column {column}");
            }
        }
        assert!(file.question.ends_with('?'), "{path}: the question is one");
    }
}

#[test]
fn every_result_table_has_a_schema_and_the_other_way_round() {
    let assets = Assets::embedded();
    for dataset in Dataset::all(&assets).unwrap() {
        let pipelines = Pipeline::of_dataset(&assets, &dataset.id).unwrap();
        // Protocols name snapshots and SQL schemas, so no two pipelines of a dataset may share one.
        let protocols: Vec<_> = pipelines.iter().flat_map(|pipeline| pipeline.protocols.clone()).collect();
        assert_eq!(protocols.iter().collect::<BTreeSet<_>>().len(), protocols.len(), "{protocols:?}");
        let mut outputs: BTreeSet<String> = pipelines
            .iter()
            .flat_map(|pipeline| &pipeline.steps)
            .filter(|step| {
                let path = format!("sql/{}", step.sql);
                SqlFile::parse(&path, assets.text(&path).unwrap()).unwrap().output == Output::Table
            })
            .map(|step| step.name.clone())
            .collect();
        // What the statistics add.
        for pipeline in &pipelines {
            outputs.extend(pipeline.intervals.as_ref().map(|_| "intervals".to_owned()));
            outputs.extend(pipeline.samples.iter().find(|sample| sample.ranks).map(|_| "standings".to_owned()));
            outputs.extend(pipeline.sensitivity.as_ref().map(|_| "sensitivity".to_owned()));
        }
        let schemas: BTreeSet<String> = TableSchema::load_all(&assets, &dataset.id)
            .unwrap()
            .into_iter()
            .filter(|schema| schema.kind == scorelake::schema::TableKind::Result)
            .map(|schema| schema.table)
            .collect();
        assert_eq!(outputs, schemas);
    }
}

/// Rows of the Markdown table that follows a heading: first cell of each.
fn first_cells(text: &str, heading: &str) -> BTreeSet<String> {
    let (_, rest) = text.split_once(heading).unwrap_or_else(|| panic!("no heading {heading}"));
    let rows = rest.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.split('|').nth(1).unwrap().trim().trim_matches('`').to_owned()).collect()
}

#[test]
fn tables_in_documents_equal_the_folders() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    let assets = Assets::embedded();
    for dataset in Dataset::all(&assets).unwrap() {
        let page = format!("docs/{}.md", dataset.id);
        assert!(readme.contains(&format!("[`{}`]({page})", dataset.id)), "README does not name {page}");
        let page = std::fs::read_to_string(project().join(page)).unwrap();
        let tables = TableSchema::load_all(&assets, &dataset.id).unwrap().into_iter().map(|schema| schema.table);
        let tables: BTreeSet<String> = tables.chain(["rejects".to_owned()]).collect();
        assert_eq!(first_cells(&page, "## Tables"), tables, "{}", dataset.id);
    }
    let questions: BTreeSet<String> = questions(&assets).unwrap().into_iter().map(|question| question.name).collect();
    assert_eq!(first_cells(&readme, "## Questions to start from"), questions);
}

#[test]
fn readme_shows_what_a_run_prints() {
    let readme = std::fs::read_to_string(project().join("README.md")).unwrap();
    for golden in ["run_board", "run_notes", "compare_all"] {
        let path = project().join(format!("tests/it/snapshots/it__command_line__{golden}.snap"));
        let text = std::fs::read_to_string(path).unwrap();
        let shown = text.splitn(3, "---\n").nth(2).unwrap().replace("PROJECT/", "");
        assert!(readme.contains(shown.trim_end()), "README's example is not {golden}");
    }
}

#[test]
fn architecture_names_the_modules_there_are() {
    let text = std::fs::read_to_string(project().join("ARCHITECTURE.md")).unwrap();
    let named: BTreeSet<String> =
        first_cells(&text, "## Stages").into_iter().chain(first_cells(&text, "## Beside the stages")).collect();
    let mut there = BTreeSet::new();
    for entry in std::fs::read_dir(project().join("src")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().trim_end_matches(".rs").to_owned();
        if name != "lib" && name != "main" {
            there.insert(name);
        }
    }
    assert_eq!(named, there);
}

#[test]
fn nothing_speaks_of_a_machine() {
    let mut texts = BTreeMap::new();
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "Cargo.toml", ".ci/run"]
    {
        texts.insert(name.to_owned(), std::fs::read_to_string(project().join(name)).unwrap());
    }
    let more = files("docs", "md").into_iter().chain(files("pipelines", "toml")).chain(files("schemas", "toml"));
    let more = more.chain(files("data", "csv")).chain(files("benches", "sh")).chain(files("benches", "md"));
    for path in files("src", "rs").into_iter().chain(files("sql", "sql")).chain(files("benches", "py")).chain(more) {
        texts.insert(relative(&path), std::fs::read_to_string(&path).unwrap());
    }
    for (name, text) in texts {
        for word in [concat!("/wo", "rk/"), concat!("/ro", "ot/")] {
            assert!(!text.contains(word), "{name} names {word}");
        }
    }
}
