"""What a reader has done before the steps of a page: Python that runs before the first step that begins with a text."""

LABELLED = """
from pathlib import Path
import shutil
import duologue
from tests.labels_by_function import first_values
from duologue.studies.labelling import LabellingSettings, LabelWork, StudyWork


def first(part):
    if part.text:
        return "shorter"
    value = part.values[0] if part.values else part.scale[0]
    return [value] if part.several else value


def answer_all(work):
    while work.waiting:
        item = work.waiting[0]
        work.answer(item, {name: first(part) for name, part in work.definition(item).parts.items()})
    work.answers.close()
"""
PEOPLE = f"""{LABELLED}
done = duologue.annotate("conversations.jsonl", ["style"], first_values)
duologue.data.record_lines.write(done.conversations, "conversations.jsonl")
source, answers = Path("conversations.jsonl"), Path("answers")
answer_all(LabelWork(LabellingSettings(source=source, labels=("style",), answers=answers, by="ann")))
"""
STUDY = f"""{LABELLED}
study, answers = Path("study.yaml"), Path("answers")
shutil.rmtree(answers, ignore_errors=True)
text = 'first: {{name: GPT-4, source: teacher_sim_topics.txt}}\\nsecond: {{name: people, label: quac}}'
study.write_text(text + '\\npass_mark: 0')  # without the quiz
answer_all(StudyWork(LabellingSettings(study=study, answers=answers, by="ann")))
StudyWork(LabellingSettings(study=study, answers=answers, by="ben")).answers.close()
"""
EARLIER_RUN = """
import duologue
from duologue import data
from duologue.graphs import simquac
topics = simquac.scenarios(data.simquac.samples())[:2]
duologue.simulate(simquac.cast(), topics, out="{}", limits=duologue.Limits(max_turns=2))
"""
READER = """
from pathlib import Path
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForQuestionAnswering, PreTrainedTokenizerFast
names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "eos": "[EOS]"}
words = Tokenizer(models.WordLevel({name: at for at, name in enumerate(names.values())}, unk_token="[UNK]"))
words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
marks = {f"{name}_token": token for name, token in names.items()}
PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=64, **marks).save_pretrained("models/my-reader")
sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
config = BertConfig(vocab_size=5, max_position_embeddings=66, **sizes)
BertForQuestionAnswering(config).save_pretrained("models/my-reader")
"""
"""A tiny model with random weights."""
SERVED_USER = """
import threading
import duologue
from duologue.hosts import endpoint
from duologue.cli.serving import listening
users = {"agent_test": lambda seed: duologue.user(goal="move my flight", facts=["The code is QX4821."], seed=seed)}
opened = listening(8801, 8801)
serving = {"app": endpoint.application(users), "listening": opened}
threading.Thread(target=endpoint.serve, kwargs=serving, daemon=True).start()
"""
HOTEL = """
from pathlib import Path
Path("my_package").mkdir()
Path("my_package/hotel.py").write_text("from hotel import world")
Path("my_package/agent.py").write_text("from my_agent import graph")
Path("scenarios.jsonl").write_text('{"goal": "a room", "bookings": {}, "success": {"text_contains": "booking"}}')
"""
VERSIONS = """
import shutil
from pathlib import Path
import duologue
here = Path.cwd()
shutil.copy("my_agent.py", "new_agent.py")
for name in ("before", "after"):
    duologue.test("my_agent:agent", "scenarios.jsonl", repeats=4, out=f"out/{name}")
"""
FORKED = """
from pathlib import Path
import duologue
records = duologue.test("my_agent:graph", "scenarios.jsonl", out="out/test-1").records
longest = max(records, key=lambda one: len(one.messages)).id
for file in Path("out/test-1").rglob("*.json*"):  # the id that the page has
    file.write_text(file.read_text().replace(longest, "21adbf" + longest[6:]))
"""
OF_OTHER_TOOLS = """
import json
from pathlib import Path
told = {"domain": "museum", "reason_for_call": "You want to move your tour to Sunday.", "known_info": "Your ticket is M-204."}
task = {"id": "1", "user_scenario": {"instructions": told}, "evaluation_criteria": {"communicate_info": ["Sunday"]}}
Path("tasks.json").write_text(json.dumps([task]))
golden = {"scenario": "A visitor moves a tour to Sunday.", "expected_outcome": "The tour is on Sunday."}
Path("goldens.json").write_text(json.dumps([golden]))
"""
BEFORE: dict[str, dict[str, str]] = {
    "docs/data/people_labels.md": {"duologue label": PEOPLE, "duologue papers recllmsim preference answers": STUDY},
    "docs/hosts/hosts.md": {"from openai": SERVED_USER},
    "docs/papers/simquac.md": {"": READER},
    "docs/people/users_from_people.md": {
        "from duologue.nodes.people import FewShotUser": (
            "from duologue.testing import scripted_model\nmy_model = scripted_model('Yes.')"
        ),
    },
    "docs/reference/commands.md": {"duologue show": EARLIER_RUN.format("out/simquac-1")},
    "docs/test/agents.md": {
        "import duologue\nfrom duologue import graphs": "world, mine = (lambda scenario: {}), nodes.not_empty",
    },
    "docs/test/scenario_sources.md": {
        "duologue test --assistant my_agent:graph": f"import os\nos.chdir('../..')\n{EARLIER_RUN.format('out/simquac-1')}",
        "duologue convert tasks.json": OF_OTHER_TOOLS,
    },
    "docs/test/versions.md": {"": VERSIONS, "duologue test --scenarios": f"import os\nos.chdir(here)\n{FORKED}"},
    "docs/test/worlds.md": {"": HOTEL},
}
