"""translate(argv) -> argv: a command line of the former version with the words of today's."""

GROUPED = {
    ("repair", "simquac"): ["simquac", "repair"],
    ("stats", "logs"): ["stats"],
    ("stats", "simquac"): ["simquac", "stats"],
    ("stats", "teacher"): ["simquac", "teacher"],
    ("stats", "baseline"): ["simquac", "baseline"],
    ("stats", "recllmsim"): ["recllmsim", "stats"],
    ("stats", "preference"): ["recllmsim", "preference"],
    ("stats", "judges"): ["recllmsim", "judges"],
    ("stats", "satisfaction"): ["recllmsim", "satisfaction"],
    ("stats", "intents"): ["recllmsim", "intents"],
    ("profiles", "generate"): ["recllmsim", "profiles"],
    ("profiles", "identify"): ["recllmsim", "identify"],
    ("repair",): ["simquac", "repair"],
    ("validators",): ["simquac", "validators"],
    ("readers",): ["simquac", "readers"],
    ("tasks",): ["recllmsim", "tasks"],
    ("profiles",): ["recllmsim", "profiles"],
    ("testers",): ["validity"],
}
OPTIONS = {
    "show": {"--first": "--limit"},
    "check": {"--most": "--limit"},
    "next-turn": {"--limit": "--sample"},
    "agreement": {"--ordered": "--scale", "--worth": "--calibrate"},
    "label": {"--into": "--out"},
    "validity": {"--judge": "--rater"},
    "tune": {
        "--judge": "--test",
        "--no-judge": "--no-test",
        "--pages": "--search-templates",
        "--page": "--template-name",
        "--page-trials": "--template-trials",
    },
    "simquac teacher": {"--reference": "--people", "--rule": "--overlap"},
    "simquac readers": {"--reader": "--model", "--answers": "--journal", "--least-agreement": "--min-agreement"},
    "recllmsim profiles": {"--assistant": "--model"},
    "recllmsim identify": {
        "--assistant": "--with-assistant",
        "--labels": "--frequency",
        "--guesses": "--answers",
        "--kept": "--journal",
    },
    "recllmsim judges": {"--judge": "--model", "--page": "--template", "--kept": "--journal"},
    "recllmsim satisfaction": {"--task": "--target"},
    "recllmsim intents": {"--side": "--group"},
}
FORMATS = {"rich": "text", "markdown": "md"}
TABLES = (
    "agreement", "stats", "simquac stats", "simquac baseline", "simquac teacher", "simquac validators", "simquac readers",
    "recllmsim stats", "recllmsim preference", "recllmsim judges", "recllmsim satisfaction", "recllmsim intents",
    "recllmsim identify",
)  # fmt: skip


def translate(argv: list[str]) -> list[str]:
    """Today's command line; options of the whole command, such as --domain X, stay before the command."""
    start = 0
    while start < len(argv) and argv[start].startswith("-"):
        start += 2 if argv[start] == "--domain" else 1
    before, rest = argv[:start], argv[start:]
    for count in (2, 1):
        if tuple(rest[:count]) in GROUPED:
            rest = GROUPED[tuple(rest[:count])] + rest[count:]
            break
    words = 2 if rest and rest[0] in ("simquac", "recllmsim", "runs") else 1
    name, options = " ".join(rest[:words]), rest[words:]
    names = OPTIONS.get(name, {})
    out, further, position = [], [], 0
    while position < len(options):
        word, position = options[position], position + 1
        option, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name == "simquac readers" and option == "--trainable":
            further += ["--model", "features"]
            continue
        if name == "annotate" and option == "--models":
            if not equals:
                value, position = options[position], position + 1
            out += [part for model in value.split(",") if model.strip() for part in ("--model", model.strip())]
            continue
        if name in TABLES and option == "--format":
            if not equals:
                value, position = options[position], position + 1
            out += ["--format", FORMATS.get(value, value)]
            continue
        out.append(names.get(option, option) + equals + value)
    return before + rest[:words] + out + further
