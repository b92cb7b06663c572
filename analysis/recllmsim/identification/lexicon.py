"""The rule-based baseline: options by their own words, and words of their field, in the user's messages."""

import re
from collections.abc import Mapping
from functools import lru_cache

from .talks import ProfileTalk
from .vocabulary import ASPECTS, CHINESE, OTHERS, VOCABULARY

MOST = 5
"""Maximum number of options of one aspect, as for a model."""

_WORDS: Mapping[str, str] = {
    "Introverted": "introvert shy quiet 内向 安静 独处 社恐",
    "Extroverted": "extrovert outgoing sociable 外向 朋友 热闹 社交",
    "Optimistic": "optimist positive hopeful 乐观 积极 开心",
    "Pessimistic": "pessimist worried afraid 悲观 担心 害怕",
    "Calm": "calm peaceful relaxed 冷静 平静 放松",
    "Friendly": "friendly kind warm 友善 友好 热情",
    "Determined": "determined persist committed 坚定 坚持 毅力",
    "Humorous": "humor humour funny joke 幽默 有趣 搞笑",
    "Patient": "patient patience 耐心 慢慢",
    "Independent": "independent alone myself 独立 自己 一个人 独自",
    "Meticulous": "meticulous detail careful precise 细致 详细 具体 细节",
    "Confident": "confident confidence 自信 有信心",
    "Ambitious": "ambitious career goal 上进 目标 提升 进步",
    "Spontaneous": "spontaneous flexible adventur 随性 随意 灵活 自由",
    "Playing chess": "chess 下棋 象棋 围棋 棋",
    "Taking care of pets": "pet dog cat 宠物 猫 狗",
    "Writing": "writing write novel blog 写作 小说 写文章",
    "Listening to music": "music concert album 音乐 歌 演唱会",
    "Playing instruments": "instrument guitar piano violin 乐器 吉他 钢琴 小提琴",
    "Cooking": "cook recipe bake 烹饪 做饭 烘焙 下厨",
    "Sports": "sport fitness gym basketball football run 运动 健身 篮球 足球 跑步 羽毛球",
    "Watching TV": "tv movie film series drama 看电视 电影 剧 综艺",
    "Crafting": "craft handmade diy knit 手工 编织 手作",
    "Photography": "photo camera 摄影 拍照 相机",
    "Playing video games": "game gaming console 游戏 电竞 手游",
    "Painting": "paint draw sketch 绘画 画画 素描",
    "Online shopping": "shopping online 网购 淘宝 京东 购物",
    "Reading": "read book literature 阅读 读书 看书 书籍",
    "Self-driving tour": "drive road car 自驾 开车 租车",
    "International travel": "international abroad overseas 国际 出国 国外 签证",
    "Frequently travels for work": "business conference 出差 商务 会议",
    "Visiting exhibitions": "exhibition gallery 展览 看展 画展",
    "Visiting museums": "museum 博物馆 美术馆",
    "Visiting historical sites": "historic ancient monument 历史 古迹 遗迹 古城",
    "Nature-based destinations": "nature mountain lake forest beach 自然 山 湖 海边 风景 风光",
    "Prefers calm and serene locations": "serene quiet tranquil peaceful 宁静 安静 清净",
    "Family vacations": "family kids children parents 家庭 家人 孩子 父母",
    "Visiting family": "relatives grandparents hometown 探亲 亲戚 老家 回家",
    "Cultural trips": "culture cultural tradition 文化 民俗 传统",
    "Food tour": "food cuisine eat 美食 小吃 好吃",
    "Luxury accommodation": "luxury resort suite 豪华 五星 度假村",
    "Outdoor activities": "outdoor hiking camping climb 户外 徒步 露营 爬山 登山",
    "Vegan": "vegan vegetarian plant 素食 吃素 素菜",
    "Chinese cuisine": "chinese 中餐 中式 中国菜 川菜 炒",
    "Japanese cuisine": "japanese sushi ramen 日式 日料 寿司 拉面",
    "Italian cuisine": "italian pasta pizza 意大利 意面 披萨 比萨",
    "Healthy food": "health organic nutrit 健康 低脂 营养 减肥 减脂",
    "Follows a balanced diet": "balanced diet 均衡 搭配 营养",
    "Take-out": "takeout take-out delivery 外卖 点餐",
    "Loves trying new cuisines": "new exotic try local 尝鲜 尝试 新菜 特色",
    "Fast food": "burger fries fast 快餐 汉堡 炸鸡 薯条",
    "Seafood": "seafood fish shrimp 海鲜 鱼 虾 螃蟹",
    "Baking": "bake baking cake bread 烘焙 蛋糕 面包 甜点",
    "Grilling": "grill barbecue bbq 烧烤 烤肉 烤",
    "Street food": "street stall snack 街头 小吃 夜市",
    "Saves for future": "save saving future budget 储蓄 存钱 攒钱 预算",
    "For travel": "travel trip 旅行 旅游",
    "Spends on books": "book 书籍 买书 书",
    "Focus on experience": "experience 体验 服务",
    "Donations": "donat charity volunteer 捐款 慈善 公益",
    "Spends on entertainment": "entertain concert movie game 娱乐 电影 游戏 演唱会",
    "Invests in real estate": "estate property house 房地产 房产 买房",
    "Spends on fashion": "fashion clothes style brand 时尚 衣服 穿搭 品牌 化妆品",
    "Spends on tech gadgets": "tech gadget phone computer device 科技 手机 电脑 数码 电子",
    "Invests in stocks": "stock invest fund 股票 投资 基金",
    "Invests in art pieces": "art artwork collect 艺术品 收藏 艺术",
    "Frugal": "cheap frugal budget affordable discount 节俭 便宜 省钱 性价比 预算",
    "Prefers quality over quantity": "quality durable 质量 品质 耐用",
    "High spender": "expensive luxury premium 高消费 奢侈 高档 昂贵",
}  # fmt: skip


def by_words(talk: ProfileTalk) -> dict[str, tuple[str, ...]]:
    """For each aspect up to five options, by how often their words occur in the user's messages.

    An aspect is empty where no word occurs. English words are also the beginnings of longer ones. Equally frequent
    options stand as in the vocabulary.
    """
    text = talk.of_user.lower()
    options: dict[str, tuple[str, ...]] = {}
    for aspect in ASPECTS:
        counts = {name: len(_pattern(aspect, name).findall(text)) for name in VOCABULARY[aspect] if name != OTHERS}
        ordered = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
        options[aspect] = tuple(ordered[:MOST])
    return options


@lru_cache(maxsize=256)
def _pattern(aspect: str, name: str) -> re.Pattern[str]:
    words = {*_WORDS[name].split(), name.lower(), *CHINESE[aspect][name].split("/")}
    return re.compile(
        "|".join(rf"\b{re.escape(word)}" if word.isascii() else re.escape(word) for word in sorted(words))
    )
