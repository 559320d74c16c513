import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Sent,
} from '#harness/files-lab.ts'

const owner = identity(aliceTag, alice)
const asBob = identity(bobTag, alice)

eachDialect('Collections', (open) => {
  const openLab = filesLab(open)
  const put = (lab: FilesLab, type: string, itemId: string, sent: Sent = {}) =>
    lab.send('POST', `/api/collections/${type}/${itemId}`, { as: owner, ...sent })
  const take = (lab: FilesLab, type: string, itemId: string, sent: Sent = {}) =>
    lab.send('DELETE', `/api/collections/${type}/${itemId}`, { as: owner, ...sent })
  const list = (lab: FilesLab, type: string, query = '', sent: Sent = {}) =>
    lab.send('GET', `/api/collections/${type}${query}`, { as: owner, ...sent })
  const ids = async (lab: FilesLab, type: string, query = '', sent: Sent = {}): Promise<string[]> =>
    (await list(lab, type, query, sent)).json.data.map(({ itemId }: { itemId: string }) => itemId)
  async function file(lab: FilesLab, visibility?: string): Promise<string> {
    lab.clock.advance(1000)
    const query = visibility ? `?visibility=${visibility}` : ''
    return (await lab.upload('a', 'hello', { query })).json.data.fileId
  }

  test('hold files, the newest first, and each once', async () => {
    const lab = await openLab()
    const [one, two] = [await file(lab), await file(lab)]
    for (const type of ['FAVR', 'BKMK', 'PIND']) {
      const answer = await put(lab, type, one)
      const addedAt = new Date(lab.clock.now()).toISOString()
      expect([answer.status, answer.json.data]).toEqual([200, { itemId: one, addedAt }])
      lab.clock.advance(1000)
      await put(lab, type, two)
      expect((await put(lab, type, one)).json.data).toEqual({ itemId: one, addedAt })
      expect(await ids(lab, type)).toEqual([two, one])
      expect((await take(lab, type, one)).json.data).toBe('ok')
      expect((await take(lab, type, one)).status).toBe(200)
      expect(await ids(lab, type)).toEqual([two])
    }
  })

  test('are each caller’s own', async () => {
    const lab = await openLab()
    const fileId = await file(lab, 'P')
    await put(lab, 'FAVR', fileId)
    expect(await ids(lab, 'FAVR', '', { as: asBob })).toEqual([])
    expect(await ids(lab, 'FAVR', '', { at: bob, as: identity(aliceTag, bob) })).toEqual([])
    await take(lab, 'FAVR', fileId, { as: asBob })
    expect(await ids(lab, 'FAVR')).toEqual([fileId])
  })

  test('take actions as bookmarks alone', async () => {
    const lab = await openLab()
    const open = await lab.putAction(alice, { visibility: 'P', attachments: [] })
    const hidden = await lab.putAction(alice, { visibility: null, attachments: [] })
    expect((await put(lab, 'BKMK', open, { as: asBob })).status).toBe(200)
    expect(await ids(lab, 'BKMK', '', { as: asBob })).toEqual([open])
    expect(failureOf(await put(lab, 'BKMK', hidden, { as: asBob }))).toBe('404 E-ACTION-NOTFOUND')
    expect(failureOf(await put(lab, 'FAVR', open))).toBe('400 E-VALIDATION')
  })

  test.each([
    ['an unknown collection', 'LIKE', `b1~${'A'.repeat(43)}`, '400 E-VALIDATION'],
    ['what the server keeps', 'RCNT', `b1~${'A'.repeat(43)}`, '400 E-VALIDATION'],
    ['an unknown file', 'FAVR', `b1~${'A'.repeat(43)}`, '404 E-FILE-NOTFOUND'],
    ['an unknown action', 'BKMK', `a1~${'A'.repeat(43)}`, '404 E-ACTION-NOTFOUND'],
    ['anything else', 'FAVR', 'x', '404 E-NOTFOUND'],
  ])('refuse %s', async (_, type, itemId, expected) => {
    const lab = await openLab()
    expect(failureOf(await put(lab, type, itemId))).toBe(expected)
  })

  test('refuse what the caller may not read, and forget to show what it may no longer', async () => {
    const lab = await openLab()
    const hidden = await file(lab)
    const open = await file(lab, 'P')
    const action = await lab.putAction(alice, { visibility: 'V', attachments: [] })
    expect(failureOf(await put(lab, 'FAVR', hidden, { as: asBob }))).toBe('404 E-FILE-NOTFOUND')
    for (const itemId of [open, action]) await put(lab, 'BKMK', itemId, { as: asBob })
    expect(await ids(lab, 'BKMK', '', { as: asBob })).toHaveLength(2)
    await lab.send('PATCH', `/api/files/${open}`, { as: owner, json: { visibility: null } })
    await lab.relate(alice, bobTag, { isBlocked: true, at: 1 })
    expect(await ids(lab, 'BKMK', '', { as: asBob })).toEqual([])
    expect((await list(lab, 'BKMK', '?_offset=0', { as: asBob })).json.pagination.total).toBe(0)
  })

  test('lose what is gone for ever, and show it in the trash no more to readers', async () => {
    const lab = await openLab()
    const fileId = await file(lab, 'P')
    await put(lab, 'FAVR', fileId)
    await put(lab, 'FAVR', fileId, { as: asBob })
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    expect(await ids(lab, 'FAVR', '', { as: asBob })).toEqual([])
    await lab.send('DELETE', `/api/files/${fileId}?permanent=true`, { as: owner })
    expect(await ids(lab, 'FAVR')).toEqual([])
  })

  test('leave out what is in the trash until it is back', async () => {
    const lab = await openLab()
    const fileId = await file(lab)
    await put(lab, 'FAVR', fileId)
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    expect(await ids(lab, 'FAVR')).toEqual([])
    expect((await list(lab, 'FAVR', '?_offset=0')).json.pagination.total).toBe(0)
    await lab.send('POST', `/api/files/${fileId}/restore`, { as: owner })
    expect(await ids(lab, 'FAVR')).toEqual([fileId])
  })

  test('of what was read do not have what was only asked about', async () => {
    const lab = await openLab()
    const fileId = await file(lab, 'P')
    const path = `/api/files/${fileId}`
    const { headers } = await lab.send('HEAD', path, { as: asBob })
    await lab.send('GET', path, { as: asBob, headers: { 'if-none-match': String(headers.etag) } })
    await lab.reads.flush()
    expect(await ids(lab, 'RCNT', '', { as: asBob })).toEqual([])
  })

  test('come in pages', async () => {
    const lab = await openLab()
    const all: string[] = []
    for (let count = 0; count < 5; count += 1) {
      const fileId = await file(lab)
      await put(lab, 'FAVR', fileId)
      all.unshift(fileId)
    }
    const first = await list(lab, 'FAVR', '?limit=2')
    expect(first.json.cursorPagination.hasMore).toBe(true)
    const rest = await ids(lab, 'FAVR', `?cursor=${first.json.cursorPagination.nextCursor}`)
    expect([...first.json.data.map(({ itemId }: { itemId: string }) => itemId), ...rest]).toEqual(all)
    const page = await list(lab, 'FAVR', '?_offset=3&_limit=1')
    expect(page.json.data).toMatchObject([{ itemId: all[3] }])
    expect(page.json.pagination).toEqual({ total: 5, offset: 3, limit: 1, hasMore: true })
    expect(failureOf(await list(lab, 'FAVR', '?cursor=x'))).toBe('400 E-VALIDATION')
    expect(failureOf(await list(lab, 'FAVR', '?limit=201'))).toBe('400 E-VALIDATION')
  })

  test('need an identity and the right scope', async () => {
    const lab = await openLab()
    const fileId = await file(lab, 'P')
    const scoped = (scope: string) => ({ as: identity(aliceTag, alice, { scope }) })
    const held = { as: await lab.makeHolder(fileId, 'write') }
    expect(failureOf(await list(lab, 'FAVR', '', { as: { kind: 'guest' } }))).toBe('401 E-AUTH-UNAUTH')
    for (const sent of [scoped('read:files'), held]) {
      expect(failureOf(await list(lab, 'FAVR', '', sent))).toBe('403 E-AUTH-FORBIDDEN')
      expect(failureOf(await put(lab, 'FAVR', fileId, sent))).toBe('403 E-AUTH-FORBIDDEN')
      expect(failureOf(await take(lab, 'FAVR', fileId, sent))).toBe('403 E-AUTH-FORBIDDEN')
    }
    expect(failureOf(await put(lab, 'FAVR', fileId, scoped('read:collections')))).toBe('403 E-AUTH-FORBIDDEN')
    expect((await list(lab, 'FAVR', '', scoped('read:collections'))).status).toBe(200)
  })

  test('of what was read last are kept by the server, at most once a minute and 200 of them', async () => {
    const lab = await openLab()
    const [one, two] = [await file(lab, 'P'), await file(lab, 'P')]
    const read = async (fileId: string, sent: Sent = { as: asBob }, query = '') => {
      await lab.send('GET', `/api/files/${fileId}${query}`, sent)
      await lab.reads.flush()
    }
    await read(one)
    lab.clock.advance(1000)
    await read(two)
    expect(await ids(lab, 'RCNT', '', { as: asBob })).toEqual([two, one])
    const { addedAt } = (await list(lab, 'RCNT', '', { as: asBob })).json.data[1]
    lab.clock.advance(30_000)
    await read(one)
    expect((await list(lab, 'RCNT', '', { as: asBob })).json.data[1].addedAt).toBe(addedAt)
    lab.clock.advance(60_000)
    await read(one)
    expect(await ids(lab, 'RCNT', '', { as: asBob })).toEqual([one, two])
    await read(one, {})
    await read(one, { as: await lab.makeHolder(one) })
    await read(one, { as: owner }, '?variant=tn')
    expect(await ids(lab, 'RCNT')).toEqual([])
    await take(lab, 'RCNT', one, { as: asBob })
    expect(await ids(lab, 'RCNT', '', { as: asBob })).toEqual([two])
    const many = Array.from({ length: 205 }, (_, at) => `b1~${String(at).padStart(42, 'A')}A`)
    for (const fileId of many) {
      lab.clock.advance(1000)
      lab.reads.noteRead({ tenant: alice, caller: owner, fileId: fileId as never })
    }
    await lab.reads.flush()
    const kept = lab.db
      .reader(alice.tenantId)
      .tables<{ collection_items: { id_tag: string; item_id: string } }>()
      .selectFrom('collection_items')
      .select('item_id')
      .where('id_tag', '=', aliceTag as IdTag)
    const kinds = (await kept.execute()).map(({ item_id }) => item_id).sort()
    expect(kinds).toEqual(many.slice(5).sort())
  })
})

eachDialect('What a caller notes about a file', (open) => {
  const openLab = filesLab(open)
  const note = (lab: FilesLab, fileId: string, json: object, sent: Sent = {}) =>
    lab.send('PATCH', `/api/files/${fileId}/user`, { as: owner, json, ...sent })

  test('is the same as its place in the collections', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'x', { query: '?visibility=P' })).json.data
    expect((await note(lab, fileId, { pinned: true })).json.data).toEqual({ pinned: true, starred: false })
    expect((await lab.send('GET', '/api/collections/PIND', { as: owner })).json.data).toMatchObject([
      { itemId: fileId },
    ])
    await lab.send('POST', `/api/collections/FAVR/${fileId}`, { as: owner })
    const metadata = await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })
    expect(metadata.json.data.userData).toEqual({ pinned: true, starred: true })
    expect((await note(lab, fileId, { pinned: false })).json.data).toEqual({ pinned: false, starred: true })
    expect((await note(lab, fileId, {})).json.data).toEqual({ pinned: false, starred: true })
    await lab.send('GET', `/api/files/${fileId}`, { as: owner })
    await lab.reads.flush()
    const accessedAt = new Date(lab.clock.now()).toISOString()
    expect((await note(lab, fileId, {})).json.data).toEqual({ pinned: false, starred: true, accessedAt })
    expect((await note(lab, fileId, { starred: true }, { as: asBob })).json.data).toEqual({
      pinned: false,
      starred: true,
    })
    const [listed] = (await lab.send('GET', '/api/files', { as: asBob })).json.data
    expect(listed.userData).toEqual({ pinned: false, starred: true })
  })

  test('stays as it is while the file is in the trash', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'x')).json.data
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    expect(failureOf(await note(lab, fileId, { starred: true }))).toBe('409 E-STATE')
  })

  test('needs to be able to read it', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'x')).json.data
    expect(failureOf(await note(lab, fileId, { pinned: true }, { as: asBob }))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await note(lab, 'x', { pinned: true }))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await note(lab, fileId, { pinned: 'yes' }))).toBe('400 E-VALIDATION')
    expect(failureOf(await note(lab, fileId, { pinned: true }, { as: { kind: 'guest' } }))).toBe(
      '401 E-AUTH-UNAUTH',
    )
    const reading = { as: identity(aliceTag, alice, { scope: 'read:files' }) }
    expect(failureOf(await note(lab, fileId, { pinned: true }, reading))).toBe('403 E-AUTH-FORBIDDEN')
  })
})
