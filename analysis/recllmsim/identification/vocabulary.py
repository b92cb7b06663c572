"""The closed vocabularies of five aspects of a profile, and which of their options a profile has.

Options and translations are those of RecLLMSim's `desc_translated.json`, by which people filled in their profiles and
annotators labelled the simulated ones ("When Synthetic Meets Real").
"""

from collections.abc import Mapping
from typing import Any

from ....data.recllmsim import ATTRIBUTES
from ....data.records import Conversation
from ..profiles import own_profile

OTHERS = "Others"

_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "personality": {
        "内向": "Introverted", "外向": "Extroverted", "乐观": "Optimistic", "悲观": "Pessimistic", "冷静": "Calm",
        "友善": "Friendly", "坚定": "Determined", "幽默": "Humorous", "耐心": "Patient", "独立": "Independent",
        "细致": "Meticulous", "自信": "Confident", "上进": "Ambitious", "随性": "Spontaneous", "其他": "Others",
    },
    "daily_interests": {
        "下棋": "Playing chess", "养宠物": "Taking care of pets", "写作": "Writing", "听音乐": "Listening to music",
        "演奏乐器": "Playing instruments", "烘焙/烹饪": "Cooking", "运动": "Sports", "看电视": "Watching TV",
        "手工艺制作": "Crafting", "摄影": "Photography", "玩游戏": "Playing video games", "绘画": "Painting",
        "网购": "Online shopping", "阅读": "Reading", "其他": "Others",
    },
    "travel_habits": {
        "自驾游": "Self-driving tour", "国际旅行": "International travel", "经常出差": "Frequently travels for work",
        "看展": "Visiting exhibitions", "参观博物馆": "Visiting museums", "参观历史遗迹": "Visiting historical sites",
        "自然风光": "Nature-based destinations", "喜欢宁静": "Prefers calm and serene locations",
        "家庭旅行": "Family vacations", "探亲": "Visiting family", "文化旅行": "Cultural trips", "美食之旅": "Food tour",
        "豪华住宿": "Luxury accommodation", "户外活动": "Outdoor activities", "其他": "Others",
    },
    "dining_preferences": {
        "素食": "Vegan", "中式美食": "Chinese cuisine", "日式美食": "Japanese cuisine", "意大利菜": "Italian cuisine",
        "健康饮食": "Healthy food", "均衡饮食": "Follows a balanced diet", "外卖": "Take-out",
        "尝鲜": "Loves trying new cuisines", "快餐": "Fast food", "海鲜": "Seafood", "烘焙": "Baking", "烧烤": "Grilling",
        "街头小吃": "Street food", "其他": "Others",
    },
    "spending_habits": {
        "为未来储蓄": "Saves for future", "用于旅行": "For travel", "购买书籍": "Spends on books",
        "注重消费体验": "Focus on experience", "捐款": "Donations", "娱乐支出": "Spends on entertainment",
        "房地产投资": "Invests in real estate", "时尚支出": "Spends on fashion", "科技产品": "Spends on tech gadgets",
        "股票": "Invests in stocks", "购买艺术品": "Invests in art pieces", "节俭": "Frugal",
        "质量大于数量": "Prefers quality over quantity", "高消费": "High spender", "其他": "Others",
    },
}  # fmt: skip

ASPECTS = tuple(_OPTIONS)
"""Keys of the aspects, as in a person's profile."""
VOCABULARY: Mapping[str, tuple[str, ...]] = {aspect: tuple(options.values()) for aspect, options in _OPTIONS.items()}
"""The options of each aspect in English, "Others" last."""
CHINESE: Mapping[str, Mapping[str, str]] = {
    aspect: {english: chinese for chinese, english in options.items()} for aspect, options in _OPTIONS.items()
}
"""For each aspect the Chinese words of its options."""

_NAMES = {name.casefold(): aspect for aspect in ASPECTS for name in (aspect, f"profile_{aspect}", *ATTRIBUTES[aspect])}


def option(aspect: str, value: object) -> str | None:
    """The English option of a value in either language or both; None if the vocabulary has no such option."""
    if isinstance(value, Mapping):
        return option(aspect, value.get("zh")) or option(aspect, value.get("en"))
    if not isinstance(value, str):
        return None
    word = value.strip()
    if (english := _OPTIONS[aspect].get(word)) is not None:
        return english
    return next((name for name in VOCABULARY[aspect] if name.casefold() == word.casefold()), None)


def aspect_named(name: str) -> str | None:
    """The aspect of a key or label in either language, such as `daily_interests`, "Travel Habits"."""
    return _NAMES.get(name.strip().casefold())


def options_in(profile: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each aspect that the profile has options of: these, each once, in the order of the profile."""
    profile_options: dict[str, tuple[str, ...]] = {}
    for name, values in profile.items():
        if (aspect := aspect_named(str(name))) is None:
            continue
        names = (option(aspect, value) for value in (values if isinstance(values, list) else [values]))
        if options := tuple(dict.fromkeys(english for english in names if english is not None)):
            profile_options[aspect] = options
    return profile_options


def profile_of(conversation: Conversation) -> dict[str, tuple[str, ...]]:
    """The options of a conversation's user: those of a person's profile, or those that a simulated one is mapped to."""
    own = own_profile(conversation)
    return {} if own is None else options_in(own)
