"""A question in the one form that references are read in: half width, and simplified characters for traditional ones.

Invariant: `simplified` keeps every character's place.
"""

from bot.memory.entities.folding import folded

LONGEST_ASKED = 500
"""Characters looked at: who points at something is brief."""

_SIMPLIFIED = str.maketrans(
    "個單號訂運遞補償優賠額價錢紅費數時間電話機郵聯繫係絡產東褲雙條臺檯張筆問題訴後結順豐圓極韻達發貨簽寫說説講給對報諾"
    "許應討論買過這還嗎麼麽裡裏現記帳賬質顏壞處從來誰幾妳剛纔為爲與寶貓損斷襪裝藍綠黃銀遠樣讓認識總憶變開終門會沒別卻傳"
    "員戶隻萬兩頭舊絨購轉誤遲換標準請們鐘點週禮節慶維評級憑證碼積贈試銷擔約簡務內無當歲師語謝導從將獎賞銹騙寢網線齊貴輛種兌緊",
    "个单号订运递补偿优赔额价钱红费数时间电话机邮联系系络产东裤双条台台张笔问题诉后结顺丰圆极韵达发货签写说说讲给对报诺"
    "许应讨论买过这还吗么么里里现记账账质颜坏处从来谁几你刚才为为与宝猫损断袜装蓝绿黄银远样让认识总忆变开终门会没别却传"
    "员户只万两头旧绒购转误迟换标准请们钟点周礼节庆维评级凭证码积赠试销担约简务内无当岁师语谢导从将奖赏锈骗寝网线齐贵辆种兑紧",
)
"""Of the words that point and those for what they point at. 「妳」 is written for 「你」 only."""


def simplified(text: str) -> str:
    return text.translate(_SIMPLIFIED)


def read(text: str) -> str:
    """The beginning of a text, folded and simplified."""
    return simplified(folded(text[:LONGEST_ASKED]).text)
