"""The words of the trivial filter, as `bot.conversation.text.content` leaves them.

Invariant: data only.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PINGS = _words("""
    滴滴 滴滴滴 在 在吗 在么 在嘛 在不 在不在 在没 还在吗 你在吗 您在吗 有人吗 有人么 有人在吗 人呢 喂 喂喂
""")
GREETINGS = _words("""
    你好 您好 你们好 大家好 你好呀 你好啊 您好呀 您好啊 哈喽 哈啰 哈罗 嗨 嘿 hi hello hey
    早 早安 早上好 上午好 中午好 下午好 晚上好 晚安
""")
THANKS = _words("""
    3q 3ks tks 谢谢 谢谢你 谢谢您 谢谢啦 谢谢了 谢谢谢谢 谢啦 谢了 多谢 感谢 非常感谢 太感谢了
    辛苦了 辛苦啦 麻烦了 麻烦你了 麻烦您了 拜拜 再见 thanks thankyou thx bye byebye
""")
ASSENTS = _words("""
    嗯 嗯嗯 嗯呢 恩 恩恩 哦 哦哦 噢 喔 好 好的 好滴 好哒 好嘞 好吧 好呀 好啊 好的呢 好的好的 行 行吧 行的
    可以 明白 明白了 知道了 了解 了解了 收到 懂了 没事 没事了 没问题 对 对的 对对 是 是的 ok okay okk
    哈哈 哈哈哈 呵呵 嘿嘿 嗯呐 得嘞 得了 中 成 妥 妥了 了解啦 晓得了 懂 明白啦 知道啦 好嘛 好哟 好哦 好滴呀 okok yes yep
    没关系 不客气 不用谢 客气了 辛苦 赞 棒 真棒 厉害 牛 牛啊 牛逼 不错 可以的 有道理 这样啊 这样 原来如此 是哦 也是
    88 886 3166 拜 溜了 回见 回头见 回聊
""")
"""They may answer a question, so they are trivial only when none is open."""

INTERJECTIONS = frozenset(
    "啊哈呵嘿嘻嗯恩哦噢喔额呃唉哎呀哇嗷呜吼嘤嗨噗嗝咳欸诶蛤咦唔咕嗐哼哟喽嘶咯嘎噜哒咩嗒嗳"
)
"""Said over and over they say nothing. Other repeated characters may: 「退退退」「试试」."""

PARTICLES = frozenset("啊哈呀哦噢啦呢哟嘛喽咯嘞了吧呗滴哒捏诶欸")
"""Behind a word of courtesy they change nothing: 多谢哈."""

CHATTER = _words("""
    哇塞 哇噻 天哪 天呐 我去 我靠 卧槽 妈呀 好家伙 绝了 无语 汗 笑死 笑死我了 离谱 红红火火 恍恍惚惚
    冒泡 冒个泡 路过 飘过 潜水 围观 吃瓜 打酱油 沙发 板凳 前排 顶 顶一下 蹲 蹲一个 蹲蹲 插眼 马克 占楼 水一下 水水
    测试 测试一下 随便 没啥 没什么 没啥事 表情
    lol lmao lmfao rofl omg wow xd xswl yyds awsl nb nbnb orz otz dd ddd gg ggg nice cool haha hhh tt qaq qwq qvq tat yysy zqsg
    u1s1 nsdd dddd tql xdm kdl skr bg mark test testing up
""")
"""Slang of chats, alone: 「冒泡」「xswl」. Not what somebody may feel: 「救命」「哭了」 deserve an answer."""

STICKERS = _words("""
    微笑 撇嘴 色 发呆 得意 流泪 害羞 闭嘴 睡 大哭 尴尬 发怒 调皮 呲牙 惊讶 难过 囧 抓狂 吐 偷笑 愉快
    白眼 傲慢 困 惊恐 憨笑 悠闲 咒骂 疑问 嘘 晕 衰 骷髅 敲打 再见 擦汗 抠鼻 鼓掌 坏笑 右哼哼 鄙视 委屈
    快哭了 阴险 亲亲 可怜 笑脸 生病 脸红 破涕为笑 恐惧 失望 无语 嘿哈 捂脸 奸笑 机智 皱眉 耶 吃瓜 加油
    汗 天啊 社会社会 旺柴 好的 打脸 哇 翻白眼 让我看看 叹气 苦涩 裂开 嘴唇 爱心 心碎 拥抱 强 弱 握手
    胜利 抱拳 勾引 拳头 合十 啤酒 咖啡 蛋糕 玫瑰 凋谢 菜刀 炸弹 便便 月亮 太阳 庆祝 礼物 红包 發 福
    烟花 爆竹 猪头 跳跳 发抖 转圈
    smile grimace drool scowl chill sob shy silent sleep cry awkward angry tongue grin surprise
    joyful thumbsup heart ok
""")
"""Names WeChat writes in square brackets for its own stickers."""
