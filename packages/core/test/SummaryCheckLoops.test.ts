import { estimateTokens } from "@varve/core/Estimate"
import { checkSummary } from "@varve/core/SummaryCheck"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"

const names = (
  "Budget Cache Clip Codec Counter Edit Effect Estimate Fold Group Guard Host Image Ledger Limits Mask Memo Memory " +
  "Message Pipeline Profile Prune Redact Registry Report Session Shape Stage Statement Step Store Strategy Summary " +
  "Testkit Transcript Turn Usage View Walk Warn"
).split(" ")
const path = (name: string) => `packages/core/src/${name}.ts`
const words = (
  "the module keeps what a host has sent and says for each of its parts which may leave view then functions come with " +
  "shapes errors that they fail whoever reads this finds first an order by name where code is long"
).split(" ")
const prose = (seed: number): string =>
  Array.from(
    { length: 40 },
    (_, i) => words[(i * 7 + seed * 13 + ((i * i) % 11)) % words.length]
  ).join(" ")
const material = names.map((name, i) => ({
  from: "tool read",
  text: `${path(name)} (${200 + i * 13} lines)\n${prose(i)}\n${"张王李赵陈杨黄周吴徐孙马朱胡郭何林高罗郑"[i % 20]}女士订购`
}))

const reasonOf = (text: string): string => {
  const request = {
    previous: undefined,
    material,
    keep: [],
    targetTokens: 5000,
    count: estimateTokens
  }
  const checked = checkSummary(request, { text, stopReason: "stop" }, { replaces: Infinity })
  return Result.isFailure(checked) ? checked.failure.reason : "accepted"
}

const list = (count: number, line: (name: string, at: number) => string, between = "\n"): string =>
  names.slice(0, count).map(line).join(between)

const outcomes = [
  "all have a docstring",
  "two have no docstring",
  "only re-exports, nothing to check"
]
const read = (name: string) => `- ${path(name)}: read, all exports have a docstring`

describe("checkSummary", () => {
  it.each([10, 20, 40])("takes a list of %d whose lines each name something else", (count) => {
    for (const text of [
      list(count, read),
      list(count, (name) => `- ${path(name)}: read, nothing to change`),
      list(count, (name, i) => `- ${path(name)}: ${outcomes[i % 3]}`),
      list(
        count,
        (name) => `| ${name} | read, all of its exports have a docstring and an example |`
      ),
      list(
        count,
        (name) => `The file ${path(name)} was read, and all of its exports have a docstring.`,
        " "
      ),
      list(count, (name) => `${name} 已读,所有导出都有文档字符串,没有需要修改的内容`, "。"),
      `The user wants to know which files lack a docstring.\n${list(count, read)}\nStill open: the tests.`
    ])
      expect([text, reasonOf(text)]).toEqual([text, "accepted"])
  })

  it("takes a list that tells its items apart by one letter of a script without spaces", () => {
    const text = [..."张王李赵陈杨黄周吴徐孙马朱胡郭何林高罗郑"]
      .map(
        (name) =>
          `- 客户${name}的订单:已确认付款并发货,客户已收到通知,没有其他需要处理的事项,仓库已核对库存并更新了记录,财务部门已确认收到款项,物流公司已取走包裹并发送了运单号`
      )
      .join("\n")
    expect(reasonOf(text)).toBe("accepted")
  })

  it.each([
    ["one line", `${read("Clip")}\n`.repeat(40)],
    ["a few lines in turn", Array.from({ length: 60 }, (_, i) => read(names[i % 3]!)).join("\n")],
    ["many lines in turn", Array.from({ length: 80 }, (_, i) => read(names[i % 10]!)).join("\n")],
    [
      "a sentence that names much",
      `${names.slice(0, 8).join(", ")} were read and are fine. `.repeat(8)
    ],
    ["a short one", "The file Clip.ts was read. ".repeat(10)],
    ["one at the end of a list", `${list(20, read)}\n${`${read("Clip")}\n`.repeat(40)}`],
    [
      "a short one at the end of a long list",
      `${list(40, read)}\n${`${read("Clip")}\n`.repeat(10)}`
    ],
    ["one before a list", `${`${read("Clip")}\n`.repeat(40)}${list(20, read)}`],
    [
      "names that don't occur in the material",
      Array.from({ length: 80 }, (_, i) => read(`part${i + 5000}`)).join("\n")
    ]
  ])("refuses what goes round in circles: %s", (_, text) => {
    expect(reasonOf(text)).toBe("degenerate")
  })
})
