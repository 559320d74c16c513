import { expect, test } from 'vitest'
import { actionLab, guest } from '#harness/action-lab.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { searchTextOf, searchWords } from './search-text.ts'

test('words are compared without case, accents and punctuation', () => {
  expect(searchTextOf({ title: 'Crème Brûlée!', text: 'ЁЖИК №5', tags: ['no'], summary: 7 })).toBe(
    'creme brulee ежик no5',
  )
  expect(searchTextOf(undefined)).toBe('')
  expect(searchWords('  Foo-BAR "foo" ')).toEqual(['foo', 'bar'])
  expect(searchWords('!!! %_')).toEqual([])
  expect(searchWords(Array.from({ length: 30 }, (_, at) => `w${at}`).join(' '))).toHaveLength(10)
})

test('what is written without spaces is cut into pairs', () => {
  expect(searchTextOf({ text: '東京都庁2026 and 東' })).toBe('東京 京都 都庁 庁 2026 and 東')
  expect(searchWords('京都庁')).toEqual(['京都', '都庁'])
  expect(searchWords('庁')).toEqual(['庁'])
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
  ])('finds in %s what stands in the middle of it', async (text, within, elsewhere) => {
    const { alice, found } = await start()
    await alice.create(post(text))
    for (const search of within) expect([search, await found(search)]).toEqual([search, [text]])
    for (const search of elsewhere) expect([search, await found(search)]).toEqual([search, []])
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

  test('follows drafts as they change, and forgets what is deleted', async () => {
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
