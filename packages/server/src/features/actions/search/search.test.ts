import type { ActionId, IdTag } from '@kith/protocol'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { viewerOf } from '#features/relations/index.ts'
import { actionLab, guest } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { searchedTexts } from '#harness/searched-texts.ts'
import { searchQuery } from './search-query-store.ts'
import { searchTermsOf } from './search-terms.ts'
import { searchTextOf, searchWords } from './search-text.ts'

test('words are compared without case, accents and punctuation', () => {
  expect(searchTextOf({ title: 'Crème Brûlée!', text: 'ЁЖИК №5', tags: ['no'], summary: 7 })).toBe(
    'creme brulee ежик no5',
  )
  expect(searchTextOf(undefined)).toBe('')
})

test('a search has ten words at most, and one of a script without spaces is one', () => {
  const words = (count: number) => Array.from({ length: count }, (_, at) => `w${at}`).join(' ')
  expect(searchWords(`${words(10)} W1 w2`)).toHaveLength(10)
  expect(() => searchWords(words(11))).toThrow(expect.objectContaining({ code: 'E-VALIDATION' }))
  expect(searchWords('いろはにほへとちりぬるを')).toHaveLength(11)
})

test('text without spaces is cut into pairs', () => {
  expect(searchTextOf({ text: '東京都庁2026 and 東' })).toBe('東京 京都 都庁 庁 2026 and 東')
  expect(searchWords('京都庁')).toEqual(['京都', '都庁'])
  expect(searchWords('庁')).toEqual(['庁'])
})

test('each term begins with its tenant, so that no search reads terms of another', () => {
  const action = {
    type: 'POST',
    issuerTag: 'a.example.com' as IdTag,
    audienceTag: 'b.example.com' as IdTag,
    audience: [],
    subject: 's',
    parentId: undefined,
    rootId: undefined,
    visibility: 'P',
    content: { text: 'some words', tags: ['x'] },
  } as const
  const [one, other] = [searchTermsOf(1, action), searchTermsOf(6401, action)]
  expect(one).toHaveLength(9)
  const [code, otherCode] = [one, other].map((terms) => terms[0]?.slice(0, 2))
  expect(code).not.toBe(otherCode)
  expect(one.every((term) => term.startsWith(`${code}`))).toBe(true)
  expect(other.map((term) => `${code}${term.slice(2)}`)).toEqual(one)
  expect(() => searchTermsOf(6400 ** 2, action)).toThrow(RangeError)
})

eachDialect('a search', (open) => {
  const openLab = actionLab(open)
  const post = (text: string, more: object = {}) => ({ type: 'POST' as const, content: { text }, ...more })

  async function start() {
    const lab = await openLab()
    const alice = await lab.makeTenant('alice.example.com')
    const found = async (search: string, who = alice, query: object = {}) =>
      (await who.list({ search, ...query })).map(({ content }) => (content as { text: string }).text)
    return { ...lab, alice, found }
  }

  test('finds actions with all its words, or words that begin so', async () => {
    const { alice, found } = await start()
    await alice.create(post('The quick brown fox'))
    await alice.create(post('A brown bear'))
    await alice.create({ type: 'POST', content: { title: 'Crème brûlée', text: 'dessert' } })
    expect(await found('brown')).toEqual(['A brown bear', 'The quick brown fox'])
    expect(await found('BRO fox')).toEqual(['The quick brown fox'])
    expect(await found('creme')).toEqual(['dessert'])
    expect(await found('brown wolf')).toEqual([])
    expect(await found('rown')).toEqual([])
  })

  test.each([
    '"',
    'brown"',
    '* OR x',
    'tenant:t1',
    'a:*',
    ") or ('1'='1",
    "o'hara & | !",
    '-',
    'NEAR(brown bear)',
  ])('takes %s for words and nothing else', async (search) => {
    const { alice, found } = await start()
    await alice.create(post('brown'))
    expect(await found(search)).toEqual(search === 'brown"' ? ['brown'] : [])
  })

  test.each([
    ['東京都庁へ行きました', ['東京', '京都', '都庁へ', '庁', '行きました', 'ま'], ['都京', '行く']],
    ['新しいスーパーマーケット', ['スーパー', 'マーケット', 'ケット'], ['マート']],
    ['สวัสดีครับ', ['สวัสดี', 'ครับ'], ['ลาก่อน']],
    ['한국어로 쓰기', ['한국', '쓰기'], ['어로']],
  ])('finds in %s text from the middle of it', async (text, within, elsewhere) => {
    const { alice, found } = await start()
    await alice.create(post(text))
    for (const search of within) expect([search, await found(search)]).toEqual([search, [text]])
    for (const search of elsewhere) expect([search, await found(search)]).toEqual([search, []])
  })

  test('finds words of all scripts, however they are spelt', async () => {
    const { alice, found } = await start()
    for (const { text } of searchedTexts) await alice.create(post(text))
    for (const { text, found: finding, missed } of searchedTexts) {
      for (const search of finding)
        expect([search, await found(search)]).toEqual([search, expect.arrayContaining([text])])
      for (const search of missed)
        expect([search, await found(search)]).toEqual([search, expect.not.arrayContaining([text])])
    }
  })

  test('shows only what the caller may read, of this tenant', async () => {
    const { alice, found, makeTenant } = await start()
    const bob = await makeTenant('bob.example.com')
    await alice.create(post('open secret'))
    await alice.create(post('hidden secret', { visibility: null }))
    await bob.create(post('another secret'))
    expect(await found('secret')).toEqual(['hidden secret', 'open secret'])
    expect(await found('secret', alice.as(guest))).toEqual(['open secret'])
    expect(await found('secret', bob)).toEqual(['another secret'])
    expect((await alice.page({ search: 'secret', offset: 0, limit: 1 })).total).toBe(2)
    expect((await alice.page({ search: '!', offset: 0 })).total).toBe(0)
  })

  test('takes one letter for a word, and words of any length and script', async () => {
    const { alice, found } = await start()
    const long = 'x'.repeat(5000)
    await alice.create(post('plan b for 7 friends'))
    await alice.create(post(long))
    // Letters that are newer than Unicode 6.1: of Adlam, and a Chinese one of extension E.
    await alice.create(post('\u{1e900}\u{1e901} \u{2b820}\u{2b821}'))
    expect(await found('b')).toEqual(['plan b for 7 friends'])
    expect(await found('f')).toEqual([])
    expect(await found(long)).toEqual([long])
    expect(await found('xxx')).toEqual([long])
    expect(await found('\u{1e900}\u{1e901}')).toHaveLength(1)
    expect(await found('\u{2b820}\u{2b821}')).toHaveLength(1)
  })

  test('finds with filters what the list with these filters has of it', async () => {
    const { alice, found, clock } = await start()
    const words = fc.constantFrom('red', 'reddish', 'blue', 'green', 'greenhouse')
    const drawn = fc.sample(
      fc.record({
        words: fc.array(words, { minLength: 1, maxLength: 3 }),
        tag: fc.constantFrom('one', 'two'),
        visibility: fc.constantFrom('P' as const, 'F' as const, null),
        parent: fc.option(fc.nat(5)),
        later: fc.boolean(),
      }),
      { numRuns: 40 },
    )
    const ids: string[] = []
    for (const [number, { words, tag, visibility, parent, later }] of drawn.entries()) {
      const text = `${words.join(' ')} ${number}`
      const parentId = parent === null ? undefined : ids[parent]
      const { actionId } = parentId
        ? await alice.create({ type: 'CMNT', parentId, content: { text } })
        : await alice.create(post(text, { content: { text, tags: [tag] }, visibility }))
      if (!parentId) ids.push(actionId)
      if (later) clock.advance(1000)
    }
    const filters: Parameters<typeof alice.list>[0][] = [
      {},
      { type: ['POST'] },
      { type: ['POST', 'CMNT'] },
      { issuer: alice.tenant.idTag },
      { issuer: 'bob.example.com' as IdTag },
      { involved: alice.tenant.idTag },
      { audience: 'bob.example.com' as IdTag },
      { tag: 'one' },
      { parentId: ids[1] as ActionId },
      { rootId: ids[2] as ActionId },
      { tag: 'two', issuer: alice.tenant.idTag, type: ['POST'] },
      { sortDir: 'asc' },
      { createdAfter: Math.floor(clock.now() / 1000) - 10 },
    ]
    for (const who of [alice, alice.as(guest)])
      for (const filter of filters)
        for (const search of ['red', 'gree', 'blue 1', 'greenhouse red']) {
          const all = (await who.list({ ...filter, limit: 200 })).map(
            ({ content }) => (content as { text: string }).text,
          )
          const sought = search.split(' ')
          const has = (text: string) =>
            sought.every((part) =>
              text.split(' ').some((word) => word === part || (part.length > 1 && word.startsWith(part))),
            )
          const expected = all.filter(has)
          expect([filter, search, await found(search, who, { ...filter, limit: 200 })]).toEqual([
            filter,
            search,
            expected,
          ])
        }
  })

  test('finds a comment as public when its root arrives and is public', async () => {
    const { alice, makeTenant, tokenOf, forge, receive, settle } = await start()
    const bob = await makeTenant('bob.example.com')
    await bob.create({ type: 'FLLW', audienceTag: alice.idTag })
    await settle()
    const { actionId: rootId } = await alice.create(post('the root'))
    // Other servers may send a comment without the visibility of its root.
    const comment = await forge(alice, {
      ...{ type: 'CMNT', parentId: rootId, audienceTag: bob.idTag, content: { text: 'late word' } },
    })
    const guests = viewerOf(bob.tenant, guest, {})
    const countPublic = async () => {
      const query = searchQuery(bob.reader, { search: 'late', filter: {}, viewer: guests }) ?? ''
      const isMatch =
        bob.reader.dialect === 'sqlite'
          ? sql<boolean>`action_texts match ${query}`
          : sql<boolean>`body @@ cast(${query} as tsquery)`
      const index = bob.reader.tables<{ action_texts: object }>().selectFrom('action_texts')
      return (await index.where(isMatch).select(sql`1`.as('one')).execute()).length
    }
    await receive(bob.tenant, comment)
    expect(await countPublic()).toBe(0)
    await receive(bob.tenant, await tokenOf(alice.tenant.tenantId, rootId as ActionId))
    expect(await countPublic()).toBe(1)
  })

  test('pages through what it finds, newest first, without losing or repeating any', async () => {
    const { alice } = await start()
    for (let number = 0; number < 7; number += 1) await alice.create(post(`word ${number}`))
    const pages: string[] = []
    let cursor: string | undefined
    do {
      const page = await alice.page({
        search: 'word',
        limit: 3,
        ...(cursor === undefined ? {} : { cursor }),
      })
      pages.push(...page.items.map(({ content }) => (content as { text: string }).text))
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    expect(pages).toEqual([6, 5, 4, 3, 2, 1, 0].map((number) => `word ${number}`))
  })

  test('follows drafts as they change, and does not find deleted actions', async () => {
    const { alice, found } = await start()
    const { actionId } = await alice.create(post('first words', { draft: true }))
    expect(await found('first', alice, { status: ['R'] })).toEqual(['first words'])
    await alice.update(actionId, { content: { text: 'second words' } })
    expect(await found('first', alice, { status: ['R'] })).toEqual([])
    await alice.publish(actionId)
    expect(await found('second')).toEqual(['second words'])
    await alice.remove(actionId)
    expect(await found('second')).toEqual([])
  })
})
