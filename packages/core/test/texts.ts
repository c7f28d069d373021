// Texts of each kind that agents send, written or generated here: the same on every run.

/** A generator of numbers in [0, 1). */
const numbers = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32
  }
}

const WORDS =
  `account address alarm approve archive assign back board branch browser button cancel cart category chart
  checkout choose city close column comment commit contact copy country create customer daily dashboard delete delivery
  details disable discount document done download draft due edit email employee error event export failed file filter
  folder footer form group header help hidden history home image import inbox index invoice issue item label language
  last late link list location login main manager menu message month move name network next note number open order owner
  page panel parent password payment pending phone picture plan preview price print priority privacy product profile
  project quantity query queue refresh region remove reply report request reset result review role row save schedule
  search select send server session settings share shipping sidebar sign size sort source start status step stock submit
  subtotal summary support table task team text theme ticket title today toggle total upload user value version view
  warning week width window`.split(/\s+/)

const makeTools = (seed: number) => {
  const random = numbers(seed)
  const int = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const pick = <A>(of: ReadonlyArray<A>): A => of[int(0, of.length - 1)]!
  const word = () => pick(WORDS)
  const capital = () => word().replace(/^./, (letter) => letter.toUpperCase())
  const phrase = (from: number, to: number) =>
    [capital(), ...Array.from({ length: int(from, to) - 1 }, word)].join(" ")
  const camel = () => word() + capital() + (random() < 0.3 ? capital() : "")
  const hex = (length: number) => Array.from({ length }, () => int(0, 15).toString(16)).join("")
  const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-9${hex(3)}-${hex(12)}`
  const two = (from: number, to: number) => String(int(from, to)).padStart(2, "0")
  const time = () =>
    `2026-${two(1, 12)}-${two(1, 28)}T${two(0, 23)}:${two(0, 59)}:${two(0, 59)}.${two(0, 9)}7Z`
  const lines = (line: (n: number) => string, from = 25, to = 70) =>
    Array.from({ length: int(from, to) }, (_, n) => line(n)).join("\n")
  let depth = 0
  const nest = () => (depth = Math.max(0, Math.min(8, depth + int(-1, 1))))
  return { random, int, pick, word, capital, phrase, camel, hex, uuid, time, lines, nest }
}
type Tools = ReturnType<typeof makeTools>

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
const base64 = (t: Tools, length: number) =>
  Array.from({ length }, () => BASE64[t.int(0, 63)]).join("")

const ui: ReadonlyArray<(t: Tools) => string> = [
  (t) =>
    t.lines((n) => {
      const role = t.pick([
        "button",
        "link",
        "textbox",
        "cell",
        "listitem",
        "img",
        "row",
        "heading"
      ])
      const state = t.random() < 0.3 ? " [cursor=pointer]" : t.random() < 0.1 ? " [disabled]" : ""
      return `${"  ".repeat(t.nest())}- ${role} "${t.phrase(1, 4)}" [ref=e${n}]${state}`
    }),
  (t) =>
    t.lines((n) => {
      const role = t.pick(["link", "button", "StaticText", "generic", "combobox", "menuitem"])
      return `${"\t".repeat(t.nest())}[${n}] ${role} '${t.phrase(1, 4)}' focusable: ${t.random() < 0.5}`
    }),
  (t) =>
    t.lines(
      (n) => {
        const [x, y] = [t.int(0, 700), t.int(0, 2000)]
        const type = t.pick(["TextView", "Button", "ImageView", "LinearLayout", "EditText"])
        return `${"  ".repeat(t.nest())}<node index="${n}" text="${t.phrase(1, 3)}" resource-id="org.shop.app:id/${t.word()}_${t.word()}" class="android.widget.${type}" clickable="${t.random() < 0.5}" bounds="[${x},${y}][${x + t.int(20, 380)},${y + t.int(20, 90)}]" />`
      },
      12,
      40
    ),
  (t) =>
    t.lines(() => {
      const tag = t.pick(["div", "span", "a", "button", "li", "td", "label"])
      return `${"  ".repeat(t.nest())}<${tag} class="${t.word()}-${t.word()} ${t.pick(["flex", "grid", "mt-4", "px-2 py-1"])}" id="${t.word()}-${t.int(1, 99)}">${t.phrase(1, 5)}</${tag}>`
    }),
  (t) =>
    t.lines(() => {
      const role = t.pick(["AXButton", "AXStaticText", "AXGroup", "AXTextField", "AXRow"])
      return `${"    ".repeat(t.nest())}${role} "${t.phrase(1, 4)}" at (${t.int(0, 2560)}, ${t.int(0, 1600)}) size ${t.int(8, 900)}x${t.int(8, 400)}`
    })
]

const json: ReadonlyArray<(t: Tools) => string> = [
  (t) =>
    JSON.stringify(
      Array.from({ length: t.int(6, 20) }, () => ({
        id: t.uuid(),
        [t.camel()]: t.int(0, 99_999),
        created_at: t.time(),
        email: `${t.word()}.${t.word()}@example.org`,
        total: t.int(100, 99_999) / 100,
        tags: [t.word(), t.word()],
        active: t.random() < 0.5,
        note: null
      }))
    ),
  (t) =>
    JSON.stringify(
      {
        type: "object",
        properties: Object.fromEntries(
          Array.from({ length: t.int(8, 20) }, () => [
            t.camel(),
            { type: t.pick(["string", "number", "boolean"]), description: `${t.phrase(4, 12)}.` }
          ])
        ),
        required: [t.camel(), t.camel()],
        additionalProperties: false
      },
      null,
      2
    ),
  (t) =>
    t.lines(() =>
      JSON.stringify({
        time: t.time(),
        level: t.pick(["info", "warn", "error"]),
        message: t.phrase(3, 9),
        duration_ms: t.int(1, 5000),
        path: `/api/v1/${t.word()}/${t.int(1, 9999)}`
      })
    ),
  (t) =>
    JSON.stringify(
      {
        tool: t.camel(),
        arguments: {
          path: `src/${t.word()}/${t.camel()}.ts`,
          points: Array.from({ length: t.int(20, 60) }, () => ({
            x: t.int(0, 1920),
            y: t.int(0, 1080)
          }))
        }
      },
      null,
      t.pick([0, 2, 4])
    )
]

const hexLog: ReadonlyArray<(t: Tools) => string> = [
  (t) =>
    t.lines(
      (n) =>
        `${(n * 16).toString(16).padStart(8, "0")}: ${Array.from({ length: 8 }, () => t.hex(4)).join(" ")}`
    ),
  (t) => t.lines(() => `${t.hex(64)}  ${t.word()}-${t.int(1, 9)}.${t.int(0, 20)}.tar.gz`, 12, 40),
  (t) => t.lines(() => `${t.time()} INFO [${t.uuid()}] trace=${t.hex(32)} ${t.phrase(2, 5)}`),
  (t) => t.lines((n) => `#${n}  0x${t.hex(12)} in ${t.word()}_${t.word()} (self=0x${t.hex(8)})`),
  (t) => t.lines(() => `commit ${t.hex(40)}\n\n    ${t.phrase(3, 9)}\n`, 10, 30)
]

const FACES = [
  "😀",
  "😂",
  "🎉",
  "👍",
  "❤️",
  "🔥",
  "✅",
  "❌",
  "🚀",
  "👩‍💻",
  "🇩🇪",
  "⚠️",
  "📦",
  "✨",
  "🙏🏽",
  "🟢"
]
const emoji: ReadonlyArray<(t: Tools) => string> = [
  (t) => t.lines(() => `${t.pick(FACES)} ${t.phrase(2, 7)} ${t.pick(FACES)}`),
  (t) => t.lines(() => Array.from({ length: t.int(2, 8) }, () => t.pick(FACES)).join("")),
  (t) =>
    Array.from({ length: t.int(150, 400) }, () =>
      String.fromCodePoint(t.pick([t.int(0x1f600, 0x1f64f), t.int(0x1f300, 0x1f5ff)]))
    ).join("")
]

const noise: ReadonlyArray<(t: Tools) => string> = [
  (t) => base64(t, t.int(800, 6000)),
  (t) => t.lines(() => base64(t, 76), 10, 50),
  (t) => t.lines(() => `"integrity": "sha512-${base64(t, 86)}==",`, 8, 30)
]

const blanks: ReadonlyArray<(t: Tools) => string> = [
  (t) => t.lines(() => `${" ".repeat(t.int(0, 100))}${t.word()}`),
  (t) =>
    t.lines(
      () => `${t.word().padEnd(24)}|${t.word().padEnd(30)}|${String(t.int(1, 9999)).padStart(12)}`
    )
]

const generated = (makers: ReadonlyArray<(t: Tools) => string>): ReadonlyArray<string> =>
  makers.flatMap((make, i) => [1, 2, 3, 4].map((n) => make(makeTools(i * 1000 + n))))

const prose = [
  `The ferry left an hour late, which nobody on board seemed to mind. Most of the passengers had made the crossing
many times before and knew that the captain waited for the mail truck, whatever the timetable said. A woman in a green
coat unpacked bread and cheese on the bench beside the stairs and offered some to the children across from her. By the
time the harbour wall had sunk behind the swell, the whole deck smelled of coffee, and somebody had started to sing.`,
  `I looked at the failing test first. It expects the list to come back sorted by date, but the helper that builds the
fixtures gives every entry the same timestamp, so the order depends on how the database happens to store the rows. That
is why it only fails on the second machine. I would rather not change the query, because two other screens rely on it
staying cheap. The better fix is to give each fixture its own date; I have done that, and the suite has passed ten times
in a row. There is one more thing you should know: the same helper is used by the billing tests, and they pass for the
wrong reason.`,
  `Before you apply for a refund, please check that the item is unused and in its original packaging. Refunds are paid
to the card that was charged and usually arrive within five working days. If you paid with a gift card, we will send you
a new one by email. Large appliances are collected from your home; you will be asked to choose a day and a time slot when
you submit the form. We cannot accept returns of perishable goods, personalised products or opened software, unless they
were damaged on arrival.`,
  `# Getting started

Install the package, then create a configuration file in the root of your project. The file is read once, when the server
starts, so you have to restart it after every change.

- **Routes** map a path to a handler. The first one that matches wins.
- **Plugins** run in the order in which they are listed.
- **Secrets** come from the environment and are never written to the log.

If something doesn't work, run the doctor command: it checks the version of the runtime, the permissions of the cache
folder and whether the port is free. Still stuck? Open an issue and attach its output.`
]

const code = [
  `import { readFile } from "node:fs/promises"

export interface Row {
  readonly id: number
  readonly name: string
  readonly price: number | undefined
}

const parseRow = (line: string, index: number): Row => {
  const [id, name, price] = line.split(";")
  if (id === undefined || name === undefined) {
    throw new SyntaxError(\`line \${index + 1}: expected at least two columns\`)
  }
  return { id: Number(id), name: name.trim(), price: price ? Number.parseFloat(price) : undefined }
}

export const loadRows = async (path: string): Promise<ReadonlyArray<Row>> => {
  const text = await readFile(path, "utf8")
  return text
    .split("\\n")
    .filter((line) => line.length > 0 && !line.startsWith("#"))
    .map(parseRow)
}
`,
  `class Inventory:
    """Keeps how many of each part are left."""

    def __init__(self, warehouse, reorder_level=10):
        self.warehouse = warehouse
        self.reorder_level = reorder_level
        self._counts = defaultdict(int)

    def receive(self, part_number, quantity):
        if quantity <= 0:
            raise ValueError(f"quantity must be positive, got {quantity!r}")
        self._counts[part_number] += quantity
        logger.info("received %d of %s in %s", quantity, part_number, self.warehouse)

    def to_reorder(self):
        return sorted(p for p, n in self._counts.items() if n < self.reorder_level)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--level", type=int, default=10)
    args = parser.parse_args()
`,
  `SELECT c.customer_id, c.last_name, COUNT(o.order_id) AS order_count, SUM(o.total_amount) AS revenue
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.customer_id AND o.created_at >= DATE '2026-01-01'
WHERE c.country_code IN ('DE', 'FR', 'NL')
GROUP BY c.customer_id, c.last_name
HAVING SUM(o.total_amount) > 1000
ORDER BY revenue DESC NULLS LAST
LIMIT 50;

CREATE INDEX CONCURRENTLY IF NOT EXISTS idx_orders_customer_created ON orders (customer_id, created_at);
`,
  `fn merge<T: Ord + Clone>(left: &[T], right: &[T]) -> Vec<T> {
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() && j < right.len() {
        if left[i] <= right[j] {
            out.push(left[i].clone());
            i += 1;
        } else {
            out.push(right[j].clone());
            j += 1;
        }
    }
    out.extend_from_slice(&left[i..]);
    out.extend_from_slice(&right[j..]);
    out
}
`,
  `#!/usr/bin/env bash
set -euo pipefail
for dir in packages/*/; do
  name=$(basename "$dir")
  if [ ! -f "$dir/package.json" ]; then
    echo "skip $name" >&2
    continue
  fi
  (cd "$dir" && npm run build --silent 2>&1 | tee "../../logs/$name.log") || failed+=("$name")
done
[ "\${#failed[@]}" -eq 0 ] || { printf 'failed: %s\\n' "\${failed[@]}"; exit 1; }
`,
  `.card {
  display: grid;
  grid-template-columns: 96px minmax(0, 1fr) auto;
  gap: 0.75rem;
  padding: 1rem 1.25rem;
  border: 1px solid var(--border-color, #d0d7de);
  border-radius: 8px;
  background-color: rgba(255, 255, 255, 0.92);
}
.card:hover .card__title { text-decoration: underline; }
@media (max-width: 640px) {
  .card { grid-template-columns: 1fr; }
}
`
]

const cjk = [
  `我先打开设置页面，然后在左侧菜单里点击“账户与安全”。页面加载完成以后，可以看到当前登录的用户名和最近一次登录的时间。
接下来需要修改密码：在旧密码输入框里填写原来的密码，再输入两次新密码，最后点击保存按钮。如果系统提示密码太短，就换一个至少
十二个字符的密码。保存成功后会弹出一个提示，说明其他设备需要重新登录。`,
  `昨天晚上下了一场大雨，早上起来的时候街上到处都是水。公交车比平时慢了很多，我到公司已经九点半了。同事们都在讨论周末要不要
去爬山，可是天气预报说星期六还会下雨。我们决定先看看情况，如果不下雨就早点出发，中午在山顶吃饭，下午坐缆车回来。`,
  `最初に設定画面を開いて、左側のメニューから「アカウント」を選んでください。次に、メールアドレスの横にある編集ボタンを押すと、
新しいアドレスを入力する欄が表示されます。入力が終わったら保存ボタンをクリックしてください。確認のメールが届くので、その中の
リンクを開けば変更は完了です。うまくいかない場合は、ブラウザを再起動してからもう一度試してください。`,
  `駅前の小さな喫茶店は、朝の七時から開いている。店の主人はいつも同じ新聞を読みながら、ゆっくりとコーヒーを淹れる。窓際の席に座る
と、通りを歩く人たちがよく見える。雨の日は客が少ないけれど、その静けさが好きで、私はわざわざ傘をさして出かけることがある。`,
  `먼저 설정 화면을 열고 왼쪽 메뉴에서 계정을 선택하세요. 그런 다음 이메일 주소 옆에 있는 수정 버튼을 누르면 새 주소를 입력할 수 있는
칸이 나타납니다. 입력을 마친 뒤 저장 버튼을 클릭하세요. 확인 메일이 도착하면 그 안에 있는 링크를 열어야 변경이 완료됩니다. 문제가 계속되면
브라우저를 다시 시작한 후에 한 번 더 시도해 보세요.`,
  `어제는 비가 많이 와서 하루 종일 집에 있었다. 오래된 책을 정리하다가 어릴 때 쓰던 일기장을 발견했는데, 글씨가 삐뚤빼뚤해서 웃음이 나왔다.
저녁에는 동생이 놀러 와서 같이 국수를 끓여 먹었다. 우리는 다음 달에 바다로 여행을 가기로 약속했다.`
]

const otherScripts = [
  `Сначала откройте страницу настроек и выберите в меню слева пункт «Аккаунт». Рядом с адресом почты есть кнопка, которая
позволяет его изменить. Введите новый адрес и нажмите «Сохранить». После этого придёт письмо со ссылкой, которую нужно
открыть, чтобы подтвердить изменение. Если письмо не пришло, проверьте папку со спамом и попробуйте ещё раз.`,
  `افتح صفحة الإعدادات أولا ثم اختر الحساب من القائمة الجانبية. بجانب عنوان البريد الإلكتروني يوجد زر للتعديل، اضغط عليه
واكتب العنوان الجديد ثم احفظ التغييرات. ستصلك رسالة فيها رابط للتأكيد، ولن يتم التغيير قبل أن تفتح هذا الرابط.`,
  `सबसे पहले सेटिंग पेज खोलें और बाईं ओर के मेनू से खाता चुनें। ईमेल पते के पास एक बटन है जिससे आप पता बदल सकते हैं। नया पता लिखें और
सहेजें पर क्लिक करें। इसके बाद आपको एक संदेश मिलेगा जिसमें एक लिंक होगा। बदलाव पूरा करने के लिए उस लिंक को खोलें।`,
  `ก่อนอื่นให้เปิดหน้าการตั้งค่าแล้วเลือกบัญชีจากเมนูด้านซ้าย ข้างที่อยู่อีเมลจะมีปุ่มสำหรับแก้ไข กดปุ่มนั้นแล้วพิมพ์ที่อยู่ใหม่ จากนั้นกดบันทึก
ระบบจะส่งข้อความพร้อมลิงก์ยืนยันไปให้ การเปลี่ยนแปลงจะสมบูรณ์เมื่อคุณเปิดลิงก์นั้น`,
  `Öffnen Sie zuerst die Einstellungen und wählen Sie links im Menü den Punkt „Konto“. Neben der E-Mail-Adresse finden Sie
eine Schaltfläche, mit der Sie sie ändern können. Geben Sie die neue Adresse ein und speichern Sie. Anschließend erhalten
Sie eine Nachricht mit einem Bestätigungslink; erst wenn Sie ihn öffnen, wird die Änderung gültig.`,
  `Ouvrez d'abord la page des paramètres, puis choisissez « Compte » dans le menu de gauche. À côté de l'adresse
électronique se trouve un bouton qui permet de la modifier. Saisissez la nouvelle adresse et enregistrez. Vous recevrez
ensuite un message avec un lien de confirmation ; la modification n'est prise en compte qu'après l'avoir ouvert.`,
  `Abre primero la página de configuración y elige la cuenta en el menú de la izquierda. Junto a la dirección de correo hay
un botón que permite cambiarla. Escribe la nueva dirección y guarda los cambios. Después recibirás un mensaje con un
enlace de confirmación; el cambio no se aplica hasta que lo abras.`
]

/** Documents of every kind that the estimate has to be good at. */
export const KINDS: Readonly<Record<string, ReadonlyArray<string>>> = {
  prose,
  code,
  json: generated(json),
  "UI trees": generated(ui),
  "hex logs": generated(hexLog),
  CJK: cjk,
  emoji: generated(emoji)
}

/** Kinds that are rarer, for which the estimate has to be reasonable. */
export const RARER: Readonly<Record<string, ReadonlyArray<string>>> = {
  "other languages": otherScripts,
  base64: generated(noise),
  "runs of blanks": generated(blanks)
}
