import { readFileSync } from 'node:fs'
import { parseIdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { namesToAsk, readDiscoveryRecords } from './discovery-record.ts'
import { anyKid, type PublishedIdentity } from './identity.ts'
import { readIdentityAnswer } from './identity-answer.ts'

interface AnswerCase {
  readonly name: string
  readonly allowHttp?: boolean
  readonly answer: { status: number; contentType?: string; body?: unknown; text?: string }
  readonly expect: { readonly kind: string; readonly identity?: unknown }
}
interface RecordCase {
  readonly name: string
  readonly records: string[]
  readonly allowHttp?: boolean
  readonly expect: unknown
}

function load<File>(name: string): File {
  const url = new URL(`../../../../../../vectors/discovery/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(url, 'utf8'))
}

const records = load<{ cases: RecordCase[] }>('txt-records')
const names = load<{ cases: { idTag: string; names: string[] }[] }>('names')
const answers = load<{ idTag: string; cases: AnswerCase[] }>('id-tag-answers')

describe('the TXT records', () => {
  test.each(records.cases)('$name', ({ records, allowHttp = false, expect: expected }) => {
    expect(readDiscoveryRecords(records, { allowPlainHttp: allowHttp })).toEqual(expected)
  })
})

describe('the names to ask', () => {
  test.each(names.cases)('of $idTag', async ({ idTag, names }) => {
    const parsed = parseIdTag(idTag)
    expect(parsed && (await namesToAsk(parsed))).toEqual(names)
  })

  test('of the longest identity are few', async () => {
    const longest = parseIdTag(`${'a.'.repeat(124)}com`)
    expect(longest && (await namesToAsk(longest)).length).toBe(8)
  })
})

describe('the answer', () => {
  test.each(answers.cases)('$name', ({ answer, allowHttp = false, expect: expected }) => {
    const { status, contentType, body, text = JSON.stringify(body) ?? '' } = answer
    const verdict = readIdentityAnswer(
      {
        status,
        headers: contentType === undefined ? {} : { 'content-type': contentType },
        body: Buffer.from(text),
      },
      { idTag: parseIdTag(answers.idTag)!, allowPlainHttp: allowHttp },
    )
    expect(
      verdict.kind === 'found' ? { kind: 'found', identity: neutral(verdict.identity) } : verdict,
    ).toMatchObject(expected)
  })
})

/** Without the sign for a missing key id, which is internal. */
function neutral(identity: PublishedIdentity) {
  return {
    ...identity,
    keys: identity.keys.map(({ kid, ...key }) => (kid === anyKid ? key : { kid, ...key })),
  }
}
