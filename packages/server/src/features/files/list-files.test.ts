import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileId, maxOffset, maxTotal } from '@kith/protocol'
import { type Kysely, sql } from 'kysely'
import { expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  club,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Sent,
} from '#harness/files-lab.ts'
import { searchedTexts } from '#harness/searched-texts.ts'
import { addSharedFile } from './copies/shared-file.ts'
import { updateFile } from './file-store.ts'

const owner = identity(aliceTag, alice)

interface Listed {
  readonly fileId: string
  readonly fileName: string
}

eachDialect('Listing files', (open) => {
  const openLab = filesLab(open)

  async function put(lab: FilesLab, name: string, query = '', sent: Sent = {}): Promise<string> {
    lab.clock.advance(1000)
    const answer = await lab.upload(name, name, { query, headers: { 'content-type': 'text/plain' }, ...sent })
    expect(answer.status).toBe(201)
    return answer.json.data.fileId
  }
  async function make(lab: FilesLab, fileTp: string, body: object = {}): Promise<string> {
    lab.clock.advance(1000)
    const answer = await lab.send('POST', '/api/files', { as: owner, json: { fileTp, ...body } })
    expect(answer.status).toBe(201)
    return answer.json.data.fileId
  }
  async function list(lab: FilesLab, query = '', sent: Sent = {}) {
    const answer = await lab.send('GET', `/api/files${query}`, { as: owner, ...sent })
    expect(answer.status).toBe(200)
    return answer.json as {
      data: Listed[]
      cursorPagination?: { nextCursor: string | null; hasMore: boolean }
    }
  }
  const names = async (lab: FilesLab, query = '', sent: Sent = {}) =>
    (await list(lab, query, sent)).data.map(({ fileName }) => fileName)

  test('sorts names as people do: without case and accents, numbers by their value', async () => {
    const lab = await openLab()
    const sorted = [
      '1 a',
      '2',
      '10',
      '100',
      'e',
      'é',
      'Ebene',
      'Élan',
      'photo 2.jpg',
      'photo 10.jpg',
      'Zoë',
      'zoo',
    ]
    for (const name of sorted.toReversed()) await put(lab, name)
    expect(await names(lab, '?sort=name')).toEqual(sorted)
    expect(await names(lab, '?sort=name&sortDir=desc&_offset=0')).toEqual(sorted.toReversed())
    const pages: string[] = []
    for (let cursor = ''; ; ) {
      const { data, cursorPagination } = await list(lab, `?sort=name&limit=5${cursor}`)
      pages.push(...data.map(({ fileName }) => fileName))
      if (!cursorPagination?.hasMore) break
      cursor = `&cursor=${cursorPagination.nextCursor}`
    }
    expect(pages).toEqual(sorted)
    const [file] = (await list(lab, '?search=zoo')).data
    await lab.send('PATCH', `/api/files/${file?.fileId}`, { as: owner, json: { fileName: '  3 zoos ' } })
    expect(await names(lab, '?sort=name&limit=3')).toEqual(['1 a', '2', '3 zoos'])
  })

  test('answers the newest first, with everything about each', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'box' })
    await put(lab, 'a.txt', `?parentId=${folder}&tags=x,y&visibility=F`)
    const { data, cursorPagination } = await list(lab)
    expect(data[0]).toEqual({
      fileId: expect.stringMatching(/^b1~/),
      parentId: folder,
      status: 'A',
      fileTp: 'BLOB',
      contentType: 'text/plain',
      fileName: 'a.txt',
      size: 5,
      createdAt: new Date(lab.clock.now()).toISOString(),
      tags: ['x', 'y'],
      visibility: 'F',
      owner: { idTag: aliceTag, name: 'Alice' },
      userData: { pinned: false, starred: false },
    })
    expect(data[1]).toMatchObject({ fileTp: 'FLDR', fileName: 'box', parentId: null, visibility: null })
    expect(cursorPagination).toEqual({ nextCursor: null, hasMore: false })
  })

  test('shows only what the caller may read, and nothing of another tenant', async () => {
    const lab = await openLab()
    await put(lab, 'private')
    await put(lab, 'public', '?visibility=P')
    await put(lab, 'verified', '?visibility=V')
    await put(lab, 'elsewhere', '?visibility=P', { at: bob, as: identity(bobTag, bob) })
    expect(await names(lab)).toEqual(['verified', 'public', 'private'])
    expect(await names(lab, '', { as: identity(bobTag, alice) })).toEqual(['verified', 'public'])
    expect(await names(lab, '', { as: { kind: 'guest' } })).toEqual(['public'])
    const guests = await list(lab, '', { as: { kind: 'guest' } })
    expect(guests.data[0]).not.toHaveProperty('userData')
  })

  test('shows one’s own files, what came from others, or both', async () => {
    const lab = await openLab()
    await put(lab, 'x')
    const folder = (await make(lab, 'FLDR', { fileName: 'box' })) as FileId
    for (const [at, parentId] of [undefined, undefined, folder].entries())
      await lab.db.transact(alice.tenantId, async (tx) => {
        const fileId = `b1~${String(at).repeat(43)}` as FileId
        const shared = { fileId, ownerTag: bobTag, fileName: `copy ${at}`, contentType: 'image/png' }
        await addSharedFile(lab.shareDeps, tx, { ...shared, expiresAt: undefined })
        if (parentId) await updateFile(tx, fileId, { parentId, modifiedAt: 1 })
      })
    const both = ['box', 'copy 0', 'copy 1', 'copy 2', 'x']
    const sorted = async (query: string, sent: Sent = {}) => (await names(lab, query, sent)).sort()
    expect(await sorted('')).toEqual(both)
    expect(await sorted('?origin=own')).toEqual(['box', 'x'])
    expect(await sorted('?origin=received')).toEqual(['copy 0', 'copy 1', 'copy 2'])
    expect(await sorted('?origin=own&parentId=__root__&sort=name')).toEqual(['box', 'x'])
    expect(await sorted('?origin=received&parentId=__root__')).toEqual(['copy 0', 'copy 1'])
    expect(await sorted(`?origin=received&parentId=${folder}`)).toEqual(['copy 2'])
    expect(await sorted('?origin=received&search=copy&sort=size')).toEqual(['copy 0', 'copy 1', 'copy 2'])
    expect(await sorted('?origin=received', { as: { kind: 'guest' } })).toEqual([])
    expect(await sorted('?origin=received', { as: identity(bobTag, alice) })).toEqual([])
    const months = async (query: string) =>
      (await lab.send('GET', `/api/files/timeline?${query}`, { as: owner })).json.data
    expect(await months('origin=own&contentType=image/*')).toEqual([])
    expect(await months('origin=received&contentType=image/*')).toMatchObject([{ count: 3 }])
    expect(failureOf(await lab.send('GET', '/api/files?origin=all', { as: owner }))).toBe('400 E-VALIDATION')
  })

  test('needs a scope that reads files', async () => {
    const lab = await openLab()
    const asked = (scope: string) =>
      lab.send('GET', '/api/files', { as: identity(aliceTag, alice, { scope }) })
    expect(failureOf(await asked('read:actions'))).toBe('403 E-AUTH-FORBIDDEN')
    expect((await asked('read:files')).status).toBe(200)
  })

  test('for whoever holds a reference to a folder shows what is in it', async () => {
    const lab = await openLab()
    const folder = await make(lab, 'FLDR', { fileName: 'shared' })
    const inner = await make(lab, 'FLDR', { fileName: 'inner', parentId: folder })
    await put(lab, 'deep', `?parentId=${inner}`)
    await put(lab, 'outside')
    const as = await lab.makeHolder(folder)
    expect(await names(lab, '', { as })).toEqual(['deep', 'inner', 'shared'])
    expect(await names(lab, `?parentId=${inner}`, { as })).toEqual(['deep'])
  })

  test('selects by type, content type, tags and status', async () => {
    const lab = await openLab()
    await make(lab, 'CRDT', { fileName: 'doc', tags: 'work' })
    await make(lab, 'RTDB', { fileName: 'base' })
    await make(lab, 'FLDR', { fileName: 'box' })
    await put(lab, 'text', '?tags=work,home')
    await put(lab, 'html', '', { headers: { 'content-type': 'text/html; charset=utf-8' } })
    const png = await readFile(join(import.meta.dirname, '../../../test/fixtures/images/transparent.png'))
    lab.clock.advance(1000)
    await lab.upload('picture', png)
    expect(await names(lab, '?fileTp=CRDT')).toEqual(['doc'])
    expect(await names(lab, '?fileTp=CRDT,RTDB')).toEqual(['base', 'doc'])
    expect(await names(lab, '?contentType=text/plain')).toEqual(['text'])
    expect(await names(lab, '?contentType=text/html')).toEqual(['html'])
    expect(await names(lab, '?contentType=text/*')).toEqual(['html', 'text'])
    expect(await names(lab, '?contentType=*/*')).toEqual(await names(lab, ''))
    expect(await names(lab, '?contentType=IMAGE/*')).toEqual(['picture'])
    expect(await names(lab, '?contentType=%25')).toEqual([])
    expect(await names(lab, '?tags=home')).toEqual(['text'])
    expect(await names(lab, '?tags=home,work')).toEqual(['text', 'doc'])
    expect(await names(lab, '?tags=Home')).toEqual([])
    await lab.settle()
    expect(await names(lab, '?status=M,P')).toEqual([])
    expect((await names(lab, '?status=A')).length).toBe(6)
  })

  test('selects by folder', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR', { fileName: 'box' })
    await put(lab, 'in', `?parentId=${box}`)
    await put(lab, 'out')
    expect(await names(lab, `?parentId=${box}`)).toEqual(['in'])
    expect(await names(lab, '?parentId=__root__')).toEqual(['out', 'box'])
    expect(await names(lab, '?parentId=__trash__')).toEqual([])
    expect(await names(lab, `?parentId=d1~${'A'.repeat(43)}`)).toEqual([])
    expect(await names(lab, '?parentId=nothing')).toEqual([])
    expect(await names(lab, '?parentId=nothing&_offset=0')).toEqual([])
  })

  test('puts in order by creation, change, name and last reading', async () => {
    const lab = await openLab()
    const b = await put(lab, 'b', '?created_at=100')
    const a = await put(lab, 'a', '?created_at=300')
    await put(lab, 'C', '?created_at=200')
    expect(await names(lab)).toEqual(['a', 'C', 'b'])
    expect(await names(lab, '?sort=created&sortDir=asc')).toEqual(['b', 'C', 'a'])
    expect(await names(lab, '?sort=name')).toEqual(['a', 'b', 'C'])
    expect(await names(lab, '?sort=name&sortDir=desc')).toEqual(['C', 'b', 'a'])
    lab.clock.advance(1000)
    await lab.send('PATCH', `/api/files/${b}`, { as: owner, json: { tags: 'new' } })
    expect(await names(lab, '?sort=modified')).toEqual(['b', 'C', 'a'])
    for (const fileId of [b, a]) {
      await lab.send('GET', `/api/files/${fileId}`, { as: owner })
      lab.clock.advance(1000)
    }
    await lab.reads.flush()
    expect(await names(lab, '?sort=recent')).toEqual(['a', 'b', 'C'])
    expect(await names(lab, '?sort=recent&sortDir=asc')).toEqual(['C', 'b', 'a'])
    const { data } = await list(lab, '?sort=recent')
    expect(data[0]).toMatchObject({ userData: { accessedAt: expect.stringMatching(/^2026-01-01T/) } })
  })

  test('goes on after each page without losing or repeating what is added meanwhile', async () => {
    const lab = await openLab()
    for (const name of ['1', '2', '3', '4', '5']) await put(lab, name)
    for (const sort of ['created', 'modified', 'name', 'recent']) {
      const first = await list(lab, `?limit=2&sort=${sort}&sortDir=desc`)
      expect(first.cursorPagination?.hasMore).toBe(true)
      await put(lab, `new ${sort}`)
      const cursor = first.cursorPagination?.nextCursor
      const rest = await list(lab, `?limit=200&sort=${sort}&sortDir=desc&cursor=${cursor}`)
      const seen = [...first.data, ...rest.data].map(({ fileId }) => fileId)
      expect(new Set(seen).size).toBe(seen.length)
      expect(rest.cursorPagination).toEqual({ nextCursor: null, hasMore: false })
    }
  })

  test.each([1, 2, 3, 4, 5, 6])(
    'goes on from what was read to what was not, by pages of %i',
    async (limit) => {
      const lab = await openLab()
      for (const name of ['1', '2', '3', '4', '5']) {
        const fileId = await put(lab, name)
        if (Number(name) > 3) await lab.send('GET', `/api/files/${fileId}`, { as: owner })
        lab.clock.advance(1000)
      }
      await lab.reads.flush()
      const all = await names(lab, '?sort=recent&_offset=0')
      expect(all.slice(0, 2)).toEqual(['5', '4'])
      const seen: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await list(lab, `?sort=recent&limit=${limit}${cursor && `&cursor=${cursor}`}`)
        expect(page.data.length).toBeGreaterThan(0)
        seen.push(...page.data.map(({ fileName }) => fileName))
        cursor = page.cursorPagination?.nextCursor ?? null
      }
      expect(seen).toEqual(all)
    },
  )

  test('answers by number when asked to', async () => {
    const lab = await openLab()
    for (const name of ['1', '2', '3']) await put(lab, name)
    const page = await lab.send('GET', '/api/files?_offset=1&_limit=1', { as: owner })
    expect(page.json.data.map(({ fileName }: Listed) => fileName)).toEqual(['2'])
    expect(page.json.pagination).toEqual({ total: 3, offset: 1, limit: 1, hasMore: true })
    expect(page.json).not.toHaveProperty('cursorPagination')
  })

  test('counts as many files as pages by number reach, and no more', async () => {
    const lab = await openLab()
    await make(lab, 'CRDT')
    const columns = sql.raw(
      'file_tp, status, owner_tag, preset, file_name, content_type, size, tags, created_at, modified_at',
    )
    await lab.db.transact(alice.tenantId, async (tx) => {
      const copies = sql`insert into files (tenant_id, file_id, ${columns})
        with recursive copies(number) as (select 1 union all select number + 1 from copies where number < ${maxTotal})
        select tenant_id, file_id || number, ${columns} from files cross join copies`
      await copies.execute(tx.tables() as Kysely<unknown>)
    })
    const page = await lab.send('GET', `/api/files?_offset=${maxOffset}&_limit=200`, { as: owner })
    expect(page.json.pagination).toMatchObject({ total: maxTotal, offset: maxOffset })
    expect(page.json.data).toHaveLength(200)
  })

  test.each([
    '?limit=0',
    '?limit=201',
    '?fileTp=DOC',
    '?status=X',
    '?sort=colour',
    '?sortDir=up',
    '?cursor=x',
    '?cursor=eyJzIjoibmFtZSIsInYiOiJhIiwiaWQiOiJiIn0',
    '?_offset=-1',
    `?_offset=${maxOffset + 1}`,
  ])('refuses %s', async (query) => {
    const lab = await openLab()
    expect(failureOf(await lab.send('GET', `/api/files${query}`, { as: owner }))).toBe('400 E-VALIDATION')
  })
})

eachDialect('The tags of files', (open) => {
  const openLab = filesLab(open)

  test('are those of the caller’s own, outside the trash', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'a', { query: '?tags=b,a,B' })).json.data
    await lab.upload('b', 'b', { query: '?tags=b,gone' })
    const tags = async (query = '', sent: Sent = {}) =>
      (await lab.send('GET', `/api/tags${query}`, { as: owner, ...sent })).json.data
    expect(await tags()).toEqual([{ tag: 'B' }, { tag: 'a' }, { tag: 'b' }, { tag: 'gone' }])
    for (const prefix of ['b', 'B', '%F0%9D%90%9B'])
      expect(await tags(`?withCounts=true&prefix=${prefix}`)).toEqual([
        { tag: 'B', count: 1 },
        { tag: 'b', count: 2 },
      ])
    expect(await tags('?prefix=b&limit=1')).toEqual([{ tag: 'B' }])
    expect(await tags('?limit=1')).toEqual([{ tag: 'B' }])
    expect(await tags('?prefix=%25')).toEqual([])
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    expect(await tags('?withCounts=true')).toEqual([
      { tag: 'b', count: 1 },
      { tag: 'gone', count: 1 },
    ])
    expect(await tags('', { as: identity(bobTag, alice) })).toEqual([])
    expect(failureOf(await lab.send('GET', '/api/tags'))).toBe('401 E-AUTH-UNAUTH')
    const narrow = identity(aliceTag, alice, { scope: 'read:actions' })
    expect(failureOf(await lab.send('GET', '/api/tags', { as: narrow }))).toBe('403 E-AUTH-FORBIDDEN')
  })

  test('in a community are each member’s', async () => {
    const lab = await openLab()
    const member = { at: club, as: identity(bobTag, club, { role: 'contributor' }) }
    await lab.upload('a', 'a', { query: '?tags=bobs', ...member })
    expect((await lab.send('GET', '/api/tags', member)).json.data).toEqual([{ tag: 'bobs' }])
    const moderator = { at: club, as: identity(aliceTag, club, { role: 'moderator' }) }
    expect((await lab.send('GET', '/api/tags', moderator)).json.data).toEqual([])
  })
})

eachDialect('Searching names', (open) => {
  const openLab = filesLab(open)
  const given = [
    'Übersicht 2024.txt',
    'plan_2024 100%.txt',
    'Plan 2025.txt',
    'ΜΟΥΣΙΚΗ.txt',
    'a\u030angström.txt',
    'notes.txt',
  ].map((name) => name.normalize('NFC'))

  async function filled(lab: FilesLab): Promise<Map<string, string>> {
    const ids = new Map<string, string>()
    for (const name of given) {
      lab.clock.advance(1000)
      ids.set(name, (await lab.upload(name, name)).json.data.fileId)
    }
    return ids
  }
  async function found(lab: FilesLab, search: string, query = '', sent: Sent = {}): Promise<string[]> {
    const answer = await lab.send('GET', `/api/files?search=${encodeURIComponent(search)}${query}`, {
      as: owner,
      ...sent,
    })
    expect(answer.status).toBe(200)
    return answer.json.data.map(({ fileName }: Listed) => fileName)
  }

  test('finds what has all words, whatever their case, accents and order', async () => {
    const lab = await openLab()
    await filled(lab)
    for (const [search, expected] of [
      ['uber', ['Übersicht 2024.txt']],
      ['SICHT', ['Übersicht 2024.txt']],
      ['μουσικη', ['ΜΟΥΣΙΚΗ.txt']],
      ['Ångström', ['ångström.txt']],
      ['2025 pl', ['Plan 2025.txt']],
      ['2024', ['plan_2024 100%.txt', 'Übersicht 2024.txt']],
      ['%', ['plan_2024 100%.txt']],
      ['n_2', ['plan_2024 100%.txt']],
      ['\\', []],
      ['plan übersicht', []],
      ["' or 1=1 --", []],
    ] as const)
      expect([search, await found(lab, search)]).toEqual([search, expected])
    expect(await found(lab, '  ')).toHaveLength(given.length)
  })

  test('finds names of all scripts, however they are spelt', async () => {
    const lab = await openLab()
    for (const { text } of searchedTexts) expect((await lab.upload(text, text)).status).toBe(201)
    for (const { text, found: finding, missed } of searchedTexts) {
      for (const search of finding)
        expect([search, await found(lab, search)]).toEqual([
          search,
          expect.arrayContaining([text.normalize('NFC')]),
        ])
      for (const search of missed)
        expect([search, await found(lab, search)]).toEqual([
          search,
          expect.not.arrayContaining([text.normalize('NFC')]),
        ])
    }
  })

  test('of ten words at most', async () => {
    const lab = await openLab()
    const status = async (count: number) =>
      (
        await lab.send(
          'GET',
          `/api/files?search=${Array.from({ length: count }, (_, at) => `w${at}`).join('+')}`,
          { as: owner },
        )
      ).status
    expect([await status(10), await status(11)]).toEqual([200, 400])
    expect((await lab.send('GET', `/api/files?search=${'a+b+'.repeat(10)}`, { as: owner })).status).toBe(200)
  })

  test('goes on from page to page, in every order, and with every other filter', async () => {
    const lab = await openLab()
    const ids = await filled(lab)
    const pages = async (query: string) => {
      const all: string[] = []
      for (let cursor = ''; ; ) {
        const { json } = await lab.send('GET', `/api/files?search=txt&limit=2${query}${cursor}`, {
          as: owner,
        })
        all.push(...json.data.map(({ fileName }: Listed) => fileName))
        if (!json.cursorPagination.hasMore) return all
        cursor = `&cursor=${encodeURIComponent(json.cursorPagination.nextCursor)}`
      }
    }
    for (const sort of ['created', 'modified', 'name', 'recent'])
      expect((await pages(`&sort=${sort}`)).toSorted()).toEqual(given.toSorted())
    await lab.send('DELETE', `/api/files/${ids.get('notes.txt')}`, { as: owner })
    expect(await found(lab, 'notes')).toEqual([])
    expect(await found(lab, 'NOTES', '&parentId=__trash__')).toEqual(['notes.txt'])
    expect(await found(lab, 'plan', '&_offset=1&sort=name')).toEqual(['plan_2024 100%.txt'])
    expect(await found(lab, 'plan', '&fileTp=FLDR')).toEqual([])
  })

  test('follows a new name', async () => {
    const lab = await openLab()
    const ids = await filled(lab)
    const json = { fileName: 'Résumé.txt' }
    await lab.send('PATCH', `/api/files/${ids.get('notes.txt')}`, { as: owner, json })
    expect([await found(lab, 'notes'), await found(lab, 'resume')]).toEqual([[], ['Résumé.txt']])
  })

  test('shows visitors what they may read, and nothing of the rest', async () => {
    const lab = await openLab()
    await filled(lab)
    await lab.upload('plan for all.txt', 'x', { query: '?visibility=P' })
    const visitor = identity(bobTag, alice)
    expect(await found(lab, 'plan', '', { as: visitor })).toEqual(['plan for all.txt'])
    const { json } = await lab.send('GET', '/api/files?search=plan&_offset=0', { as: visitor })
    expect(json.pagination.total).toBe(1)
  })

  test('of 100 characters at most', async () => {
    const lab = await openLab()
    for (const [search, status] of [
      ['x'.repeat(100), 200],
      ['x'.repeat(101), 400],
      ['', 400],
    ] as const)
      expect((await lab.send('GET', `/api/files?search=${search}`, { as: owner })).status).toBe(status)
  })
})

eachDialect('What is stored', (open) => {
  const openLab = filesLab(open)

  test('is told to whoever acts for the tenant', async () => {
    const lab = await openLab({ maxStorageBytes: 1000, maxFileBytes: 100 })
    await lab.upload('a', 'hello')
    await lab.upload('b', 'hello')
    const usage = (sent: Sent) => lab.send('GET', '/api/me/usage', sent)
    expect((await usage({ as: owner })).json.data).toEqual({
      usedBytes: 5,
      reservedBytes: 0,
      limitBytes: 1000,
      files: 2,
      maxFileBytes: 100,
      tier: 'free',
    })
    expect(failureOf(await usage({ as: identity(bobTag, alice) }))).toBe('403 E-AUTH-FORBIDDEN')
    expect(failureOf(await usage({}))).toBe('401 E-AUTH-UNAUTH')
    const moderator = identity(bobTag, club, { role: 'moderator' })
    expect((await usage({ at: club, as: moderator })).json.data).toMatchObject({ usedBytes: 0, files: 0 })
  })
})
