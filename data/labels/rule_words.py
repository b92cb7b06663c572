"""Word lists of the offline annotator, in English and Chinese: our own, and short on purpose."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

WORDS: Mapping[str, tuple[str, str]] = {
    "asking": (
        "what|which|who|when|where|why|how|could you|can you|would you|please|suggest|recommend|help me|i need|i want|i would like|i'd like|tell me|give me|show me",
        "什么|哪|怎么|怎样|如何|多少|几|吗|请|能不能|可以|帮我|推荐|给我|告诉我|我想|我要|需要",
    ),
    "planning": (
        "plan|schedule|itinerary|arrange|timetable|day-by-day|step-by-step|adjust|organi[sz]e|outline",
        "计划|规划|安排|行程|日程|路线|时间表|步骤|调整",
    ),
    "recommending": (
        "recommend|suggest|ideas?|options?|any good|which|best|advice|what kind|alternatives?",
        "推荐|建议|有什么|有哪些|哪些|哪个|比较好|适合|选择",
    ),
    "fact": (
        "when|how much|how long|how far|price|cost|opening|hours|address|where is|is it|are there|information|details",
        "多少钱|价格|费用|多久|几点|在哪|地址|是不是|有没有|开放|信息",
    ),
    "weighing": (
        "is this|compare|better|worth|feasible|too much|evaluate|assess",
        "怎么样|合理|可行|值得|对比|比较|评估|评价|会不会|够不够|太.{0,3}了吗",
    ),
    "open": (
        "help me|any|anything|some|ideas?|suggestions?|plan|general|overall|advice",
        "帮我|有什么|一些|建议|推荐|规划|计划|大概|整体",
    ),
    "referring": (
        "that|those|these|this|it|them|they|instead|above|the (?:first|second|third|last)|also|too|more|another|else|you (?:said|mentioned|suggested)",
        "这|那|它|其中|上面|刚才|刚刚|第[一二三四五六七八九十]|前面|另外|还|再|更|其他|换",
    ),
    "reason": (
        "because|since|as i|so that|due to|that's why|given that|in order to",
        "因为|由于|所以|为了|毕竟|考虑到|因此",
    ),
    "promise": (
        "i will|i'll|i shall|i am going to|i'm going to|i plan to|i'll be sure|let me try",
        "我会|我将|我打算|我准备|我去试|我就按",
    ),
    "positive": (
        "thanks?|thank you|great|perfect|good|excellent|wonderful|love|lovely|helpful|sounds|appreciate|fantastic|amazing|nice",
        "谢谢|感谢|很好|不错|太好了|挺好|很棒|满意|可以的|有用|完美|喜欢",
    ),
    "negative": (
        "not what|wrong|too expensive|too much|too long|too short|don't like|do not like|unfortunately|incorrect|mistake|disappoint|useless|doesn't work|rather not|not really",
        "不对|错了|不行|太贵|不好|不喜欢|不满意|没有用|不合理|不够|不是我|太多|太少|不想|不太|不需要|重复",
    ),
    "polite": (
        "please|could you|would you|thank you|thanks|would like|appreciate|kindly|grateful",
        "请|谢谢|感谢|麻烦|您|劳驾|辛苦",
    ),
    "rude": ("stupid|idiot|shut up|nonsense|are you blind", "废话|垃圾|傻|蠢|有病|胡说"),
    "oral": (
        "ok|okay|yeah|yep|gonna|wanna|hmm|well,|kinda|cool|hey",
        "吧|呢|啊|哦|嗯|呀|哈|嘛|咋|啥|好的",
    ),
    "errand": ("call the|book it for me|buy it for me|send an e-?mail|pay for", "打电话|帮我订|帮我买|下单|预订一下|帮我付"),
    "error": ("error|timed? out|try again later|unavailable", "错误|稍后再试|超时|出错"),
    "why correct": (
        "correct(?:ly|ness)?|right|accura\\w+|wrong|incorrect|inaccura\\w+|false|mistakes?|errors?|invent\\w*|made up|makes? (?:things|it) up|hallucinat\\w+|facts?|factual\\w*|true|truth\\w*",
        "正确|准确|错误|不对|编造|属实|事实",
    ),
    "why to the point": (
        "to the point|relevan\\w+|irrelevan\\w+|on topic|off topic|answers? (?:the|my|each|every|what|another)|what (?:was|is|i) asked|direct(?:ly)?|evades?|avoids?|misunderst\\w+",
        "切题|相关|答非所问|直接|跑题|针对",
    ),
    "why finds an answer": (
        "finds?|found|no answers?|cannot answer|can'?t answer|refus\\w+|did(?:n'?t| not) answer|does(?:n'?t| not) (?:know|answer)|gave up|unanswered|cannot find|can'?t find",
        "找到|找不到|没有回答|拒绝|无法回答|不知道",
    ),
    "why natural": (
        "natural\\w*|human|robot\\w*|machine|artificial|stiff|fluent|fluency|friendl\\w+|tone|conversational|copied|copies",
        "自然|像人|机器|生硬|流畅|友好|语气",
    ),
    "why clear": (
        "clear\\w*|unclear|underst(?:and|ood)\\w*|easy|easier|readab\\w+|confus\\w+|organi[sz]ed|structured|well[- ]written|wording|vague",
        "清楚|清晰|易懂|混乱|条理|明白|含糊",
    ),
    "why concise": (
        "concise\\w*|short\\w*|brief\\w*|too long|too much|long-winded|wordy|verbose|rambl\\w+|goes on|succinct|compact|repetitive|repeats?",
        "简洁|简短|简练|太长|啰嗦|冗长|重复",
    ),
    "why complete": (
        "complete\\w*|incomplete|whole|everything|all (?:the|of|parts)|miss(?:es|ing|ed)|lack\\w*|omit\\w*|omission|leaves? out|left out|thorough\\w*|comprehensive|full|half",
        "完整|全面|遗漏|缺少|漏|齐全",
    ),
    "why detailed": (
        "detail\\w*|more information|informative|information|explains?|explanations?|examples?|depth|elaborat\\w+|richer|context|specific|longer|too short",
        "详细|信息|解释|例子|细节|具体|丰富|太短",
    ),
    "why follows the conversation": (
        "follow(?:s|ed|ing)?(?: up)?|coherent|conversation|dialogue|flow\\w*|earlier|previous|before|remember\\w*|consisten\\w+|consecutive",
        "连贯|对话|上下文|前面|之前|衔接|一致",
    ),
}  # fmt: skip
"""By the name of a sign: an English and a Chinese pattern."""


@cache
def _pattern(name: str) -> re.Pattern[str]:
    english, chinese = WORDS[name]
    return re.compile(rf"\b(?:{english})\b|{chinese}", re.IGNORECASE)


def has(text: str, name: str) -> bool:
    """Whether a word of the list stands in the text."""
    return _pattern(name).search(text) is not None


def share(texts: Sequence[str], name: str) -> float:
    """Share of the texts with a word of the list, 0 to 1; 0 of none."""
    return sum(has(text, name) for text in texts) / len(texts) if texts else 0.0


def words_of(text: str) -> list[str]:
    """Words in Latin letters and digits, and each Chinese character."""
    return re.findall(r"[A-Za-z0-9']+|[\u4e00-\u9fff]", text)
