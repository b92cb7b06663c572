"""The words by which two statements of a user exclude each other, in English and Chinese."""

import re

CLAUSE = re.compile(
    r"[,，;；:：。]|\b(?:but|because|although|though|and (?=i\b|we\b|he\b|she\b|my\b))\b|但是?|所以|因为|而且|不过"
)
KIN = (
    r"(?:my|our) (?:\w+ )?(?:husband|wife|partner|son|daughter|brother|sister|mother(?! tongue)|mum|mom|father|dad|parents|aunt|uncle|boss|friends?|colleagues?|neighbou?r|kids|children|girlfriend|boyfriend|flatmate|grandmother|grandfather|dog|cat)\b"
    r"|我?(?:爸|妈|先生|太太|老公|老婆|丈夫|妻子|女儿|儿子|孩子|父母|朋友|同事|哥|姐|弟|妹|爷爷|奶奶)"
)
OTHERS = re.compile(r"\b(?:he|she|him|they|them|his|her|their)\b|[他她]", re.IGNORECASE)
OF_KIN = re.compile(KIN, re.IGNORECASE)
BOTH = re.compile(
    rf"(?:{KIN}) ?(?:和|跟|与|and) ?(?:我|i\b|me\b)|(?:我|\bi) ?(?:和|跟|与|and) ?(?:{KIN})", re.IGNORECASE
)
SELF = re.compile(r"\b(?:i|we|me|us|myself)\b|我们?", re.IGNORECASE)
OWN = re.compile(r"\b(?:my|our)\b|我", re.IGNORECASE)
"""Words of what belongs to the user."""
WHO = {"others": OTHERS, "kin": OF_KIN, "self": SELF}
NOT = re.compile(
    r"\b(?P<neg>never|not|no longer|cannot|nobody|no one|none|nothing|neither|without|hate[sd]?|dislikes?|avoids?|refuses?|allergic to|quit|stopped|gave up|no|[a-z]+n't)\b(?P<scope>.*)"
    r"|(?P<neg_zh>从来没有?|从来不|从没有?|从不|没有|没|不再|不是|不会|不能|讨厌|还未|不)(?P<scope_zh>.*)|对(?P<allergy>[^，。]{1,6})过敏",
    re.IGNORECASE,
)
NEGATED = re.compile(
    r"\b(?:never|not|no|cannot|nobody|none|nothing|neither|without|hate|dislike|allergic|[a-z]+n't|hardly|rarely)\b|不(?!错)|没|无|别|未|讨厌|很少|过敏",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"\b(?:know|remember|recall|sure|think|find|see|mind|care|matter|understand|hope|believe|yet|so far|received?|arrived?|work(?:s|ing)?|want|need|problem|idea|doubt|rush|hurry|worries|only|just|too|very|really sure|wait|help|changed?)\b"
    r"|(?<=不)(?:知道|清楚|确定|好意思|用|客气|要紧|过|错|多|管|仅|但|然|行|想|要|需要|急|太|明白|懂|记得|同|到|对|好)|(?<=没)(?:问题|关系|事|收到|错|办法|什么|到)|(?<=没有)(?:问题|关系|收到|办法|什么|别的)",
    re.IGNORECASE,
)
"""What a negation does not deny for good: knowledge, wishes, and states that the agent may have changed."""
WISH = re.compile(
    r"\b(?:want|would|i'd|need|could|can you|please|looking for|buy|book|add|order|rent|find|hope|plan to|going to)\b|想|要|请|帮|希望|买|订|找|租|办|打算|需要",
    re.IGNORECASE,
)
LIGHT = frozenset(
    "hav own carri bring possess eat drink lik lov enjoi ever actual total complet at all any play wear live speak watch read take keep alway usual so such much".split()
)
BLANK_ZH = re.compile(
    r"喜欢|(?:感)?兴趣|时间|想法|意见|要求|特别|经验|计划|打算|必要|地方|人|东西|方便|合适|可能|应该|一样|清|行|够"
)
"""Words that deny nothing without what they stand for."""
TAIL_ZH = re.compile(r"[了的过吗吧呢啊呀啦们着\s。！]+$")
LIGHT_ZH = re.compile(
    r"[有是会能喝吃用坐去做看养说过了的很太多都也就再任何个几次您你们我他她在到说把被给和跟与还]+|一(?=[个件次条])|什么|别的|其他"
)
RECENT = re.compile(
    r"\b(?:brand[- ]?new|new customer|new here|first (?:time|flight|trip|order|visit|stay|booking)|just (?:got|bought|opened|joined|moved|started)|only (?:joined|opened|got|bought|started|moved)|last (?:week|month|spring|summer|autumn|fall|winter)|yesterday|this (?:week|month)|recently|(?:is|are|was) (?:\w+ )?new)\b"
    r"|\b\d+ (?:days?|weeks?|months?) (?:ago|old)\b|第[一1]次|首次|刚(?:刚)?(?:买|办|开|来|搬|入|换|开始)|新(?:客户|用户|买|办|开)|(?:是|全)新的?|上(?:周|个?月|星期)|昨天|最近才|[一二三两几\d]+(?:天|周|个月)前",
    re.IGNORECASE,
)
LONG = re.compile(
    r"\b(?:since (?:19|20)\d\d|for (?:\d+|many|several|a few|some|about \d+|over \d+|more than \d+|the last \d+) (?:years|decades)|for (?:years|ages|decades|a decade|a long time)|every (?:day|week|month|year|summer|winter)|always|years ago|years old|\d+ years|regular(?:ly)?|last (?:time|year)|again|before|all my life|an? old|very old|ancient|long-?time|(?:was|is) old)\b"
    r"|(?:多|\d+|[十几两三五六七八九]+) ?年(?:多|前|了|的|以前)?|(?<!星期)一直|每个?[年月周天]|天天|经常|上次|去年|前年|以前|老(?:客户|用户|顾客)|旧的?|多年|从小|很久",
    re.IGNORECASE,
)
RARE = re.compile(
    r"\b(?:rarely|seldom|hardly(?: ever)?|almost never|once or twice|once a year|never|not often|only sometimes)\b|很少|几乎[不没]|没.{0,6}几次|不[常怎经]|偶尔|一年[一1]次|从[来不没]",
    re.IGNORECASE,
)
OFTEN = re.compile(
    r"\b(?:every (?:\w+ )?(?:day|morning|evening|week|month|year)|daily|weekly|always|all the time|constantly|very often|most days|half (?:of )?the year|each (?:day|week|month))\b|天天|每[天周月年日晚]|每个[月星]|经常|常常|一直|总是|老是",
    re.IGNORECASE,
)
USUAL = re.compile(
    rf"{OFTEN.pattern}|\b(?:last (?:time|year|summer|month|week|winter)|again|usual(?:ly)?|used to|yesterday|this morning|got|received|was|were|went|flew|before|years|since|ago|half of|i(?:'m| am) (?:\w+ )?abroad)\b|上次|去年|过|以前|往常|照旧|前几次|年",
    re.IGNORECASE,
)
"""Words of something that one does or has done."""
EITHER: tuple[tuple[str, str, bool], ...] = (
    # The words of one side, of the other, and whether they exclude each other whatever the rest of the statements is.
    (r"\bretired\b|退休", r"\b(?:my|his|her|the) (?:boss|job|office|shift|employer|salary)\b|\bat work\b|\b(?:i|he|she) (?:still )?works?\b|上班|加班|老板|在职|还在工作", True),
    (r"\b(?:vegetarian|vegan|don't eat meat)\b|吃素|素食", r"\b(?:steaks?|beef|pork|chicken|ham|sausages?|bacon|burgers?|lamb|eat meat|love meat)\b|牛排|牛肉|猪肉|羊肉|排骨|吃肉|烤肉", True),
    (r"\b(?:single|unmarried|not married|divorced|live alone|living alone)\b|单身|未婚|没结婚|离婚|一个人住|1个人住|独居", r"\b(?:(?:i am|i'm) married|my (?:wife|husband)|(?:live|living) with (?:my|a|two|three|\d))\b|已婚|结婚|我(?:老婆|老公|太太|先生|妻子|丈夫)|(?:跟|和|与).{1,6}一?起?住", True),
    (r"\b(?:unemployed|out of work|jobless|between jobs|lost my job)\b|失业|没(?:有)?工作|待业", r"\b(?:my (?:boss|job|salary|employer|office|colleagues?)|at work)\b|上班|我的?(?:工资|老板|公司|同事)", True),
    (r"\bonly child\b|独生", r"\bmy (?:\w+ )?(?:brothers?|sisters?)\b|我?(?:哥|姐|弟|妹)", True),
    (r"\b(?:teetotal|sober|don't drink|never drink)\b|不喝酒|滴酒不沾", r"\b(?:wine|beers?|whisky|whiskey|cocktails?|champagne)\b|啤酒|红酒|白酒|喝了?酒", True),
    (r"\b(?:tiny|small|little|cramped|narrow)\b|[很太特非挺]小|狭小|窄|不大", r"\b(?:huge|big|large|spacious|roomy|enormous|a lot of (?:room|space)|plenty of (?:room|space))\b|[很太特非挺]大|宽敞|[超巨]大|大得", False),
    (r"\b(?:cheap|cheapest|inexpensive|bargain)\b|便宜", r"\b(?:expensive|pricey|costly|cost a fortune)\b|[很太]贵|昂贵", False),
    (r"\b(?:tight budget|little money|can't afford|short of money|on a budget)\b|预算有限|没什么钱|手头紧", r"\b(?:money is no object|price (?:does not|doesn't) matter|can afford anything|whatever it costs)\b|不差钱|钱不是问题|多少钱都", True),
    (r"\b(?:older|elder|big) (?:brother|sister)\b|哥哥|姐姐", r"\b(?:younger|little|small|baby) (?:brother|sister)\b|弟弟|妹妹", False),
    (r"\b(?:quiet|calm|silent)\b|安静", r"\b(?:noisy|loud)\b|[很太]吵|吵闹|嘈杂", False),
    (r"\b(?:next to|close to|near|nearby|around the corner|next door|five minutes)\b|附近|旁边|[很挺]近|隔壁", r"\b(?:far (?:away|from)|an hour away|hours? (?:away|from))\b|[很太挺]远|老远", False),
    (r"\b(?:early bird|early riser|up early|gets? up early|at (?:5|6))\b|早起|起得早", r"\b(?:late riser|sleep in|sleep late|up late|night owl|until noon|till noon)\b|睡懒觉|起得晚|晚起|夜猫子", False),
    (r"\b(?:healthy|perfectly fine|never ill|never sick)\b|身体很好|健康", r"\b(?:ill|sick|in hospital|a fever|diabetes|asthma)\b|生病|住院|发烧|糖尿病", False),
    (r"\b(?:rent(?:ed|ing)?|tenant|landlord)\b|租的|租房|房东", r"\b(?:my own (?:flat|house|apartment)|own (?:my|the|this|our) \w+|bought (?:the|my|our|this) \w+|owner)\b|自己的房|买的房|我买的|业主", False),
    (r"\bwindow\b|靠窗", r"\baisle\b|过道", False),
    (r"\bcash\b|现金|付现", r"\b(?:transfer|(?:credit |debit )?card|direct debit|paypal)\b|转账|刷卡|信用卡|支付宝|微信", False),
    (r"\b(?:online|website|internet|app)\b|网站|网上|手机上", r"\b(?:counter|phone|branch|desk|in person|agency|at your (?:shop|office)|in the shop)\b|柜台|电话|网点|门店|店里", False),
    (r"\bone[- ]way\b|单程", r"\b(?:round[- ]trip|return (?:ticket|flight))\b|往返", False),
    (r"\b(?:in the )?mornings?\b|早上|上午", r"\b(?:evenings?|afternoons?|nights?|at night)\b|晚上|下午|夜里", False),
    (r"\b(?:by car|drove|drive|driving|my car)\b|开车|自驾", r"\b(?:by (?:train|bus|plane|bike)|took the (?:train|bus)|walk(?:ed)?|on foot)\b|坐(?:火车|高铁|公交|飞机|地铁)|走路|步行", False),
    (r"\b(?:by train|train)\b|火车|高铁", r"\b(?:by (?:plane|bus)|flew|fly|plane)\b|飞机|大巴", False),
    (r"\b(?:beginner|complete beginner|no experience|from scratch|zero)\b|零基础|初学|从零|新手", r"\b(?:fluent|advanced|experienced|for years|expert|professional)\b|流利|高级|精通|专业|熟练", False),
    (r"\b(?:student|at university|at school)\b|学生|上大学|读大学", r"\b(?:retired|pensioner|my employees|my company)\b|退休", True),
    (r"\b(?:free|off) (?:all day|every|on|in the)\b|都有空|有时间|很闲", r"\b(?:busy|work) (?:all day|every|on|in the)\b|没空|没时间|很忙", False),
    (r"\b(?:lost|stolen|missing)\b|丢了|被偷|不见了", r"\b(?:in my (?:hand|bag|pocket|wallet)|in front of me|right here|with me)\b|在手[上边里]|在包里|在身上|在我这", False),
    (r"\b(?:unopened|never (?:used|opened|worn)|unused|sealed|still in (?:its|the) (?:box|packaging))\b|没拆|未拆|没用过|没穿过|全新", r"\b(?:used|wore|worn|opened|washed|been using)\b|用了|穿了|拆了|打开|洗过|用过", False),
    (r"\b(?:on my own|alone|by myself|just me|only me|the only one|nobody (?:else )?(?:was|is|came|comes|lives|uses)|solo)\b|[一1]个人|独自|只有我|就我自己|没有?别?人(?:跟|和|陪)", r"\b(?:with (?:my|a|some|two|three|\d)|together|my \w+ (?:and (?:i|me)|too|also|uses?|comes?|lives?|flies|was with me|came)|\d+ of us|as well)\b|(?:跟|和|与|同|陪)[^，。]{1,6}(?:一起|住|去|来|飞|同)|一起|也(?:用|去|来|住|在|会|一起)|[2-9]个人|我们[2-9]", False),
)  # fmt: skip
OPPOSITES = tuple(
    (re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE), anyhow) for one, other, anyhow in EITHER
)
PEOPLE = r"mother|mum|mom|father|dad|boss|wife|husband|son|daughter|brother|sister|friend|colleague|aunt|uncle|grandmother|grandma|grandfather|grandpa|girlfriend|boyfriend|neighbou?r|teacher|cousin|niece|nephew"
PEOPLE_ZH = "妈妈|母亲|爸爸|父亲|老板|老婆|妻子|老公|丈夫|儿子|女儿|哥哥|弟弟|姐姐|妹妹|朋友|同事|阿姨|叔叔|奶奶|爷爷|外婆|外公|女朋友|男朋友|女友|男友|邻居|老师"
SLOTS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\b(?:i|we) (?:now |still )?live (?:in|near|at) (?P<v>(?-i:[A-Z])[\w-]+)|\b(?:my|our) (?:home|house|flat|place|family home) is in (?P<v2>(?-i:[A-Z])[\w-]+)|(?:我|我们)(?:现在|一直)?住在?(?P<z>[\u4e00-\u9fff]{2,4}?)(?:[，。；！了]|$)|我?家[在住](?P<z2>[\u4e00-\u9fff]{2,4}?)(?:[，。；！]|$)",
        r"\b(?:i am|i'm|i come) from (?P<v>(?-i:[A-Z])[\w-]+)|\bi was born in (?P<v2>(?-i:[A-Z])[\w-]+)|我(?:是|来自)(?P<z>[\u4e00-\u9fff]{2,3})(?:人|的)(?:[，。；！]|$)|我出生在(?P<z2>[\u4e00-\u9fff]{2,4})",
        r"\b(?:my name is|i am called|i'm called) (?P<v>(?-i:[A-Z])[\w-]+)|我(?:的名字)?叫(?P<z>[\u4e00-\u9fff]{2,4}?)(?:[，。；！]|$)",
        r"\bi work (?:for|at) (?P<v>(?-i:[A-Z])[\w-]+)|我在(?P<z>[\u4e00-\u9fff]{2,8}?)(?:工作|上班)",
        rf"\b(?:for|of) my (?:\w+ )?(?P<v>{PEOPLE})\b|\bmy (?:\w+ )?(?P<v2>{PEOPLE})'s (?:birthday|wedding|party|farewell)|(?:给|为|送|是)(?:我的?)?(?P<z>{PEOPLE_ZH})(?:的|过|买|办|准备)",
        r"\b(?:i am|i'm) (?P<v>[1-9]\d)(?: years old)?(?=[.,!]|$)|\b(?:he's|he is|she's|she is) (?P<v2>\d{1,2})(?: years old)?(?=[.,!]|$)|今年(?P<z>\d{1,2})岁?",
        r"\bmy (?:favou?rite) \w+ is (?:the )?(?P<v>\w+)|我最喜欢的\w{1,3}是(?P<z>[\u4e00-\u9fff]{1,4})",
        r"\b(?:a|the|my) (?P<v>red|blue|green|black|white|grey|gray|brown|yellow|silver|pink) (?:one|car|bag|suitcase|card|phone|shirt|dress|bike)\b|\b(?:suitcase|bag|car|phone|bike|card) is (?P<v2>red|blue|green|black|white|grey|gray|brown|yellow|silver|pink)\b|(?:箱子|包|车|手机|卡|衣服)是?(?P<z>[红蓝绿黑白灰棕黄银粉])色?|(?P<z2>[红蓝绿黑白灰棕黄银粉])色?的?(?:箱子|包|车|手机|卡|衣服)",
    )
)
"""Places in which a statement has one value: home, origin, name, employer, person, favourite, colour."""
OWNS = re.compile(
    r"\b(?:have|has|had|my|our|own|owns|hold|holds|with|got|there are|there is|is|are|was|were|am)\b|有|带|是|养|共",
    re.IGNORECASE,
)
SINGLE = re.compile(
    r"\bonly (?:have |had |take |took |carry |got )?(?:a|an|1|one|hand)\b|\bjust (?:a|an|1|one|hand|carry)\b|只(?:有|带了?)?(?:1|一)?[个件]?|就(?:1|一)[个件]"
)
PLENTY = re.compile(
    r"\b(?:\d+|both|all)(?: \w+)? (?:suitcases|bags|backpacks|trunks|cards|accounts|children|sons|daughters|cars|dogs|cats|rooms)\b|\bchecked (?:in|bags?|luggage)\b|[2-9]\d*[个件只张]|托运"
)
PART = re.compile(r"\b(?:1|one) of\b|有[1-9]个人|其中")
PLACE = re.compile(r"\b(?:here|there)\b|住|搬|这里|这儿|那里", re.IGNORECASE)
"""Words of one place or home."""
SHORT_ZH = 12
"""Most characters of a Chinese clause that one common sign links with another."""
LONG_ZH = 24
"""Most characters of a Chinese clause that another one may deny: a longer one is several without marks."""
HOLDS = re.compile(
    r"\b(?:i|we|he|she|they) (?:only |now )?(?:have|has|hold|own|got|had|keep|run|carry|take)\b|\b(?:travel|fly|come|live) with \d|\b(?:my|our|his|her) \d|\bthere (?:are|were|will be)\b|\bwe (?:are|will be|'re) \d|[我他她]们?(?:家)?(?:只|一共|总共)?有|带了?\d|养了?\d|共有?\d",
    re.IGNORECASE,
)
"""Words for what a person has in all."""
