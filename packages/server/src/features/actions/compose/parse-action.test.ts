import { describe, expect, test } from 'vitest'
import { type ActionInput, parseAction } from './parse-action.ts'

const actionId = `a1~${'A'.repeat(43)}`
const fileId = `b1~${'A'.repeat(43)}`

function issuesOf(input: ActionInput): string[] {
  try {
    parseAction(input)
    return []
  } catch (error) {
    const { details, code } = error as { code: string; details?: { issues: { path: string }[] } }
    return details ? details.issues.map(({ path }) => path) : [code]
  }
}

const text = { content: { text: 'Hello' } }

describe('an action is refused', () => {
  test.each<[string, ActionInput, string[]]>([
    ['of an unknown type', { type: 'COMMENT', ...text }, ['/type']],
    ['of a type that is a member of every object', { type: 'constructor' }, ['/type']],
    ['without content', { type: 'POST' }, ['/content']],
    ['without an audience', { type: 'FLLW' }, ['/audienceTag']],
    [
      'with a member that its type forbids',
      { type: 'FLLW', audienceTag: 'bob.example.com', attachments: [fileId] },
      ['/attachments'],
    ],
    ['with a parent that its type forbids', { type: 'POST', parentId: actionId, ...text }, ['/parentId']],
    [
      'with an unknown sub-type',
      { type: 'FLLW', audienceTag: 'bob.example.com', subType: 'LOVE' },
      ['/subType'],
    ],
    ['with an end that its type has not', { type: 'POST', subType: 'DEL', ...text }, ['/subType']],
    ...[
      'https://',
      'ftp://e.org',
      'https:e.org',
      'https://e.org/a b',
      'javascript://e.org',
      'https:\\\\e.org',
    ].map((url): [string, ActionInput, string[]] => [
      `with ${url} for an address`,
      { type: 'SHRE', content: { url } },
      ['/content/url'],
    ]),
    [
      'with text of 50 001 code points',
      { type: 'POST', content: { text: '😀'.repeat(50_001) } },
      ['/content/text'],
    ],
    ['with a title of 301', { type: 'POST', content: { title: 'x'.repeat(301) } }, ['/content/title']],
    [
      'with a summary of 1 001',
      { type: 'POST', content: { summary: 'x'.repeat(1_001) } },
      ['/content/summary'],
    ],
    ['with 21 tags', { type: 'POST', content: { tags: Array(21).fill('a') } }, ['/content/tags']],
    ['with a tag of 65', { type: 'POST', content: { tags: ['x'.repeat(65)] } }, ['/content/tags/0']],
    ['that ends after the last second there is', { type: 'POST', ...text, expiresAt: 1e11 }, ['/expiresAt']],
    ['with text that is none', { type: 'POST', content: { text: 5 } }, ['/content/text']],
    ['for an audience that is no identity', { type: 'POST', audience: ['nobody'], ...text }, ['/audience/0']],
    [
      'for everybody and yet not',
      { type: 'POST', audience: ['public'], visibility: 'C', ...text },
      ['/audience'],
    ],
    [
      'with a parent that has not the form of an id',
      { type: 'POST', parentId: 'act_1', ...text },
      ['E-ACTION-NOTFOUND'],
    ],
    [
      'with an attachment that has not the form of an id',
      { type: 'POST', attachments: ['x'], ...text },
      ['E-FILE-NOTFOUND'],
    ],
    [
      'with control characters',
      { type: 'POST', subject: 'a\0b', flags: '\n', ...text },
      ['/subject', '/flags'],
    ],
    ['with more free members than fit', { type: 'POST', x: { a: 'x'.repeat(16_384) }, ...text }, ['/x']],
    [
      'for all its faults at once',
      { type: 'FLLW', subType: 'X', parentId: actionId },
      ['/audienceTag', '/parentId', '/subType'],
    ],
  ])('%s', (_, input, paths) => {
    expect(issuesOf(input)).toEqual(paths)
  })
})

describe('an action', () => {
  test('may have 50 000 code points of text', () => {
    expect(issuesOf({ type: 'POST', content: { text: '😀'.repeat(50_000) } })).toEqual([])
  })

  test('has free members of 16 384 bytes of UTF-8, as JSON without spaces', () => {
    const x = (more: number) => ({ é: 'é\n'.repeat(4092) + 'a'.repeat(more) })
    expect(issuesOf({ type: 'POST', x: x(7), ...text })).toEqual([])
    expect(issuesOf({ type: 'POST', x: x(8), ...text })).toEqual(['/x'])
  })

  test('for everybody is P', () => {
    const action = parseAction({ type: 'POST', audience: ['public'], ...text })
    expect([action.visibility, action.audience, action.audienceTag]).toEqual(['P', [], undefined])
  })

  test('with one name in its audience is addressed to it', () => {
    const action = parseAction({ type: 'FLLW', audience: ['Bob.Example.com'] })
    expect([action.audienceTag, action.audience]).toEqual(['bob.example.com', ['bob.example.com']])
  })

  test('without a visibility leaves it undefined', () => {
    expect(parseAction({ type: 'POST', ...text }).visibility).toBeUndefined()
    expect(parseAction({ type: 'POST', visibility: null, ...text }).visibility).toBeNull()
  })

  test('keeps members of its content that its type does not list', () => {
    const content = { text: 'Hello', mood: 'fine' }
    expect(parseAction({ type: 'POST', content }).content).toEqual(content)
  })
})
