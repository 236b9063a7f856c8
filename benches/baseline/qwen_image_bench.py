"""Plain-Python reference for Qwen-Image-Bench: the official reading and means of means, standard library only.

Reads wide judge lines (JSONL) and prints {model: {"total", "level1", "level2"}} for Chinese and English as one JSON object
{"cn": …, "en": …}. Written from the protocol's description, for speed comparison and as a second opinion on the numbers.

    python3 benches/baseline/qwen_image_bench.py RESPONSES.jsonl data/taxonomy/qwen-image-bench.csv
"""

import csv
import json
import sys
from collections import defaultdict

SCORES = {0: 0.0, 1: 60.0, 2: 100.0}
RESERVED = {"ID", "prompt_cn", "prompt_en", "dims_cn", "dims_en"}


def read_rubric(path):
    """{prefix: (pillar, {facet: capability})} in rubric order."""
    rubric = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            pillar, facets = rubric.setdefault(row["prefix"], (row["pillar"], {}))
            facets[row["facet"]] = row["capability"]
    return rubric


def parse_reply(text):
    """The object a reply is scored by, or None."""
    if not isinstance(text, str) or not text.strip():
        return None
    text = text.rsplit("</think>", 1)[-1].strip()
    try:
        found = json.loads(text)
    except ValueError:
        first, last = text.find("{"), text.rfind("}")
        if first < 0 or last < first:
            return None
        try:
            found = json.loads(text[first : last + 1])
        except ValueError:
            return None
    return found if isinstance(found, dict) else None


def points(entry):
    """Points of a facet's entry, or None where it counts for nothing."""
    value = entry.get("score") if isinstance(entry, dict) else entry
    if isinstance(value, str) and value.upper() == "N/A":
        return None
    try:
        return SCORES.get(int(value))
    except (TypeError, ValueError, OverflowError):
        return None


def cells(found, pillar, facets):
    """{(capability, facet): points or None}; a later entry on the same cell wins."""
    def meant(name):
        return "Feature Matching" if pillar == "Creative Generation" and name == "Feature Mapping" else name

    out = {}
    first = next(iter(found.values()), None)
    if isinstance(first, dict) and "score" in first:
        for name, entry in found.items():
            facet = meant(name)
            out[(facets.get(facet, facet), facet)] = points(entry)
        return out
    for capability, members in found.items():
        if isinstance(members, dict):
            for name, entry in members.items():
                facet = meant(name)
                out[(facets.get(facet, meant(capability)), facet)] = points(entry)
    return out


def mean(values):
    return sum(values) / len(values)


def replies(line, rubric):
    """(model, language, prefix, text) of every reply on a line."""
    found = []
    for key, text in line.items():
        prefix, separator, name = key.partition("_response_")
        if separator and prefix in rubric and name:
            found.append((prefix, name, text))
    names = {name for _, name, _ in found}
    for prefix, name, text in found:
        base = name.removesuffix("_en")
        if base and base != name and name not in line and (base in line or base in names):
            yield base, "en", prefix, text
        else:
            yield name, "cn", prefix, text


def main(path, rubric_path):
    rubric = read_rubric(rubric_path)
    scores = {lang: defaultdict(lambda: {"total": [], "level1": defaultdict(list), "level2": defaultdict(list)}) for lang in ("cn", "en")}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.strip():
                continue
            images = defaultdict(dict)
            for model, lang, prefix, text in replies(json.loads(line), rubric):
                found = parse_reply(text)
                if found is None:
                    continue
                pillar, facets = rubric[prefix]
                capabilities = defaultdict(list)
                for (capability, _), value in cells(found, pillar, facets).items():
                    if value is not None:
                        capabilities[capability].append(value)
                if capabilities:
                    images[(model, lang)][pillar] = {name: mean(values) for name, values in capabilities.items()}
            for (model, lang), pillars in images.items():
                board = scores[lang][model]
                totals = {pillar: mean(list(found.values())) for pillar, found in pillars.items()}
                board["total"].append(mean(list(totals.values())))
                for pillar, total in totals.items():
                    board["level1"][pillar].append(total)
                    for capability, value in pillars[pillar].items():
                        board["level2"][(pillar, capability)].append(value)
    out = {}
    for lang, models in scores.items():
        out[lang] = {}
        for model, board in sorted(models.items(), key=lambda item: -mean(item[1]["total"])):
            level2 = defaultdict(dict)
            for (pillar, capability), values in board["level2"].items():
                level2[pillar][capability] = mean(values)
            level1 = {pillar: mean(values) for pillar, values in board["level1"].items()}
            out[lang][model] = {"total": mean(board["total"]), "level1": level1, "level2": level2}
    json.dump(out, sys.stdout, ensure_ascii=False, indent=1)
    print()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
