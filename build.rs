//! Files that are compiled in: a new one under these folders must rebuild the crate.

fn main() {
    for folder in ["pipelines", "sql", "schemas", "data"] {
        println!("cargo::rerun-if-changed={folder}");
    }
}
