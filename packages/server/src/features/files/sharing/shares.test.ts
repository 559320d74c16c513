import { type FileId, type IdTag, parseScope } from '@kith/protocol'
import { expect, test } from 'vitest'
import { findReference } from '#features/accounts/index.ts'
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
  holder,
  identity,
  type Sent,
} from '#harness/files-lab.ts'
import { addSharedFile } from '../copies/shared-file.ts'
import { sweepCopies } from '../copies/sweep-copies.ts'
import { shareActions } from './share-actions.ts'
import { ShareSweep } from './sweep-shares.ts'

const caraTag = 'cara.example' as IdTag
const owner = identity(aliceTag, alice)
const asBob = identity(bobTag, alice)
const asCara = identity(caraTag, alice)

async function make(lab: FilesLab, fileTp = 'CRDT', body: object = {}): Promise<string> {
  return (await lab.send('POST', '/api/files', { as: owner, json: { fileTp, ...body } })).json.data.fileId
}
const share = (lab: FilesLab, fileId: string, json: object, sent: Sent = {}) =>
  lab.send('POST', `/api/files/${fileId}/shares`, { as: owner, json, ...sent })
const toBob = (permission = 'R', more: object = {}) => ({
  subjectType: 'U',
  subjectId: bobTag,
  permission,
  ...more,
})
const toCara = (permission = 'R') => ({ subjectType: 'U', subjectId: caraTag, permission })
const end = (lab: FilesLab, fileId: string, shareId: number | string, sent: Sent = {}) =>
  lab.send('DELETE', `/api/files/${fileId}/shares/${shareId}`, { as: owner, ...sent })
const list = (lab: FilesLab, fileId: string, sent: Sent = {}) =>
  lab.send('GET', `/api/files/${fileId}/shares`, { as: owner, ...sent })
const canRead = async (lab: FilesLab, fileId: string, sent: Sent) =>
  (await lab.send('GET', `/api/files/${fileId}/metadata`, sent)).status === 200

eachDialect('Sharing with an identity', (open) => {
  const openLab = filesLab(open)

  test('lets it read, tells it so, and shows the share', async () => {
    const lab = await openLab()
    const fileId = await make(lab, 'CRDT', { fileName: 'plan' })
    expect(await canRead(lab, fileId, { as: asBob })).toBe(false)
    const expiresAt = new Date(lab.clock.now() + 60_000).toISOString()
    const answer = await share(lab, fileId, toBob('R', { expiresAt }))
    expect(answer.status).toBe(201)
    expect(answer.json.data).toEqual({
      id: expect.any(Number),
      resourceType: 'F',
      resourceId: fileId,
      subjectType: 'U',
      subjectId: bobTag,
      permission: 'R',
      expiresAt,
      createdBy: aliceTag,
      createdAt: new Date(lab.clock.now()).toISOString(),
    })
    expect((await list(lab, fileId)).json.data).toEqual([answer.json.data])
    expect(await canRead(lab, fileId, { as: asBob })).toBe(true)
    expect(await canRead(lab, fileId, { as: asCara })).toBe(false)
    expect(lab.notices).toEqual([
      {
        tenant: alice,
        caller: owner,
        audienceTag: bobTag,
        fileId,
        grant: {
          permission: 'READ',
          expiresAt: lab.clock.now() / 1000 + 60,
          fileName: 'plan',
          contentType: 'application/x-crdt',
          fileTp: 'CRDT',
        },
      },
    ])
  })

  test('a second time changes the share that is there', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const first = await share(lab, fileId, toBob('R'))
    const second = await share(lab, fileId, toBob('A'))
    expect(second.status).toBe(200)
    expect(second.json.data).toMatchObject({ id: first.json.data.id, permission: 'A', expiresAt: null })
    expect((await list(lab, fileId)).json.data).toHaveLength(1)
    expect(lab.notices.map(({ grant }) => grant !== 'withdrawn' && grant.permission)).toEqual([
      'READ',
      'WRITE',
    ])
  })

  test('gives what is in a folder too, until it ends', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const inner = await make(lab, 'FLDR', { parentId: box })
    const fileId = await make(lab, 'CRDT', { parentId: inner })
    const outside = await make(lab)
    const { id } = (await share(lab, box, toBob())).json.data
    expect(await canRead(lab, fileId, { as: asBob })).toBe(true)
    expect(await canRead(lab, outside, { as: asBob })).toBe(false)
    await lab.send('PATCH', `/api/files/${fileId}`, { as: owner, json: { parentId: null } })
    expect(await canRead(lab, fileId, { as: asBob })).toBe(false)
    await lab.send('PATCH', `/api/files/${fileId}`, { as: owner, json: { parentId: inner } })
    const answer = await end(lab, box, id)
    expect([answer.status, answer.json.data]).toEqual([200, null])
    expect(await canRead(lab, fileId, { as: asBob })).toBe(false)
    expect(lab.notices.at(-1)).toEqual({
      tenant: alice,
      caller: owner,
      audienceTag: bobTag,
      fileId: box,
      grant: 'withdrawn',
    })
    expect((await list(lab, box)).json.data).toEqual([])
    expect(failureOf(await end(lab, box, id))).toBe('404 E-NOTFOUND')
  })

  test('ends by itself at its time', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    await share(lab, fileId, toBob('R', { expiresAt: lab.clock.now() / 1000 + 60 }))
    lab.clock.advance(59_000)
    expect(await canRead(lab, fileId, { as: asBob })).toBe(true)
    lab.clock.advance(1_000)
    expect(await canRead(lab, fileId, { as: asBob })).toBe(false)
    expect((await list(lab, fileId)).json.data).toEqual([])
    await new ShareSweep(lab.shareDeps).run()
    await lab.settle()
    expect(lab.notices.at(-1)).toMatchObject({ audienceTag: bobTag, fileId, grant: 'withdrawn' })
    const again = await share(lab, fileId, toBob())
    expect(again.status).toBe(201)
  })

  test('does not reach whom the tenant blocks', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    await share(lab, fileId, toBob('W'))
    await lab.relate(alice, bobTag, { isBlocked: true, at: 1 })
    expect(await canRead(lab, fileId, { as: asBob })).toBe(false)
  })

  test.each([
    ['what is no identity', { subjectType: 'U', subjectId: 'bob', permission: 'R' }, '400 E-VALIDATION'],
    ['the tenant itself', { subjectType: 'U', subjectId: aliceTag, permission: 'R' }, '400 E-VALIDATION'],
    ['an unknown kind', { subjectType: 'X', subjectId: bobTag, permission: 'R' }, '400 E-VALIDATION'],
    ['an unknown permission', toBob('X'), '400 E-VALIDATION'],
    ['nobody', { subjectType: 'U', subjectId: '', permission: 'R' }, '400 E-VALIDATION'],
    ['a time that has passed', toBob('R', { expiresAt: 1 }), '400 E-VALIDATION'],
    ['milliseconds', toBob('R', { expiresAt: 2e12 }), '400 E-VALIDATION'],
    ['a link to administer', { subjectType: 'L', subjectId: 'x', permission: 'A' }, '400 E-VALIDATION'],
    ['the readers of nothing', { subjectType: 'F', subjectId: 'x', permission: 'R' }, '404 E-FILE-NOTFOUND'],
    [
      'the readers of an unknown file',
      { subjectType: 'F', subjectId: `b1~${'A'.repeat(43)}`, permission: 'R' },
      '404 E-FILE-NOTFOUND',
    ],
  ])('is refused for %s', async (_, json, expected) => {
    const lab = await openLab()
    const fileId = await make(lab)
    expect(failureOf(await share(lab, fileId, json))).toBe(expected)
    expect((await list(lab, fileId)).json.data).toEqual([])
    expect(lab.notices).toEqual([])
  })

  test('takes an identity in any spelling', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const answer = await share(lab, fileId, { subjectType: 'U', subjectId: 'BOB.Example', permission: 'R' })
    expect(answer.json.data.subjectId).toBe(bobTag)
  })

  test('ignores what is not the caller’s to say', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const json = {
      ...toBob(),
      id: 99,
      createdBy: caraTag,
      createdAt: 1,
      resourceId: 'x',
      isDerived: true,
      refHash: 'x',
    }
    expect((await share(lab, fileId, json)).json.data).toMatchObject({
      createdBy: aliceTag,
      resourceId: fileId,
    })
  })

  test('is not possible in the trash', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    expect(failureOf(await share(lab, fileId, toBob()))).toBe('409 E-STATE')
  })
})

eachDialect('Who may share', (open) => {
  const openLab = filesLab(open)

  test('is who may write, and nobody gives more than they have', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const open = await make(lab, 'CRDT', { visibility: 'P' })
    for (const attempt of [
      (id: string, sent: Sent) => share(lab, id, toCara(), sent),
      (id: string, sent: Sent) => list(lab, id, sent),
      (id: string, sent: Sent) => end(lab, id, 1, sent),
    ]) {
      expect(failureOf(await attempt(fileId, { as: asBob }))).toBe('404 E-FILE-NOTFOUND')
      expect(failureOf(await attempt(open, { as: asBob }))).toBe('403 E-AUTH-FORBIDDEN')
      expect(failureOf(await attempt(open, { as: { kind: 'guest' } }))).toBe('401 E-AUTH-UNAUTH')
      expect(failureOf(await attempt(open, { as: await lab.makeHolder(open, 'write') }))).toBe(
        '403 E-AUTH-FORBIDDEN',
      )
      expect(failureOf(await attempt(fileId, { at: bob, as: identity(bobTag, bob) }))).toBe(
        '404 E-FILE-NOTFOUND',
      )
      expect(failureOf(await attempt(`b1~${'A'.repeat(43)}`, {}))).toBe('404 E-FILE-NOTFOUND')
    }
    await share(lab, fileId, toBob('W'))
    expect(failureOf(await share(lab, fileId, toCara('A'), { as: asBob }))).toBe('403 E-AUTH-FORBIDDEN')
    expect((await share(lab, fileId, toCara('W'), { as: asBob })).status).toBe(201)
    expect((await list(lab, fileId, { as: asBob })).json.data).toHaveLength(2)
  })

  test.each(['read', 'write', 'write:files', 'admin:actions'])(
    'is not a token with the scope %s',
    async (scope) => {
      const lab = await openLab()
      const fileId = await make(lab)
      const { id } = (await share(lab, fileId, toCara())).json.data
      const as = identity(aliceTag, alice, { scope })
      expect(failureOf(await share(lab, fileId, toBob(), { as }))).toBe('403 E-AUTH-FORBIDDEN')
      expect(failureOf(await end(lab, fileId, id, { as }))).toBe('403 E-AUTH-FORBIDDEN')
    },
  )

  test('knows a share only by its own file', async () => {
    const lab = await openLab()
    const [one, two] = [await make(lab), await make(lab)]
    const { id } = (await share(lab, one, toBob())).json.data
    for (const [fileId, shareId] of [
      [two, id],
      [one, id + 1],
      [one, 'x'],
      [one, '1e3'],
      [one, '-1'],
    ] as const)
      expect(failureOf(await end(lab, fileId, shareId))).toBe('404 E-NOTFOUND')
    expect(await canRead(lab, one, { as: asBob })).toBe(true)
  })

  test('in a community is who owns the file, and its moderators', async () => {
    const lab = await openLab()
    const member = (idTag: IdTag, role: 'contributor' | 'moderator') => ({
      at: club,
      as: identity(idTag, club, { role }),
    })
    const json = { fileTp: 'CRDT' }
    const { fileId } = (await lab.send('POST', '/api/files', { json, ...member(bobTag, 'contributor') })).json
      .data
    expect((await share(lab, fileId, toCara(), member(bobTag, 'contributor'))).status).toBe(201)
    expect(failureOf(await share(lab, fileId, toCara(), member(aliceTag, 'contributor')))).toBe(
      '404 E-FILE-NOTFOUND',
    )
    expect((await share(lab, fileId, toCara('A'), member(aliceTag, 'moderator'))).status).toBe(200)
  })
})

eachDialect('What was given on', (open) => {
  const openLab = filesLab(open)

  test('ends with the share by which it was given', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const fileId = await make(lab, 'CRDT', { parentId: box })
    const dinaTag = 'dina.example' as IdTag
    const { id } = (await share(lab, box, toBob('W'))).json.data
    await share(lab, fileId, toCara('W'), { as: asBob })
    await share(lab, fileId, { subjectType: 'U', subjectId: dinaTag, permission: 'R' }, { as: asCara })
    const link = (
      await share(lab, fileId, { subjectType: 'L', subjectId: 'x', permission: 'R' }, { as: asCara })
    ).json.data
    const guest = holder(`file:${fileId}:read`, link.refId)
    expect(await canRead(lab, fileId, { as: identity(dinaTag, alice) })).toBe(true)
    expect(await canRead(lab, fileId, { as: guest })).toBe(true)
    await end(lab, box, id)
    for (const as of [asBob, asCara, identity(dinaTag, alice), guest])
      expect(await canRead(lab, fileId, { as })).toBe(false)
    await lab.settle()
    const told = lab.notices
      .filter(({ grant }) => grant === 'withdrawn')
      .map(({ audienceTag }) => audienceTag)
    expect(told.sort()).toEqual([bobTag, caraTag, dinaTag])
  })

  test('stays when its giver has the right by another way', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const fileId = await make(lab, 'CRDT', { parentId: box })
    await share(lab, box, toBob('W'))
    const { id } = (await share(lab, fileId, toBob('W'))).json.data
    await share(lab, fileId, toCara(), { as: asBob })
    await end(lab, fileId, id)
    expect(await canRead(lab, fileId, { as: asCara })).toBe(true)
  })

  test('ends when the right to give it expires or is taken away', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    await share(lab, fileId, toBob('W', { expiresAt: lab.clock.now() / 1000 + 60 }))
    await share(lab, fileId, toCara(), { as: asBob })
    await new ShareSweep(lab.shareDeps).run()
    expect(await canRead(lab, fileId, { as: asCara })).toBe(true)
    lab.clock.advance(60_000)
    await new ShareSweep(lab.shareDeps).run()
    expect(await canRead(lab, fileId, { as: asCara })).toBe(false)
    await share(lab, fileId, toBob('W'))
    await share(lab, fileId, toCara(), { as: asBob })
    await lab.relate(alice, bobTag, { isBlocked: true, at: 1 })
    await new ShareSweep(lab.shareDeps).run()
    expect(await canRead(lab, fileId, { as: asCara })).toBe(false)
  })

  test('what is the owner’s own stays', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const { id } = (await share(lab, fileId, toBob('W'))).json.data
    await share(lab, fileId, toCara())
    await end(lab, fileId, id)
    expect(await canRead(lab, fileId, { as: asCara })).toBe(true)
  })
})

eachDialect('A link', (open) => {
  const openLab = filesLab(open)
  const link = (permission = 'R', more: object = {}) => ({
    subjectType: 'L',
    subjectId: 'for the team',
    permission,
    ...more,
  })

  test('is a reference without count, shown to those who may share', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const { data } = (await share(lab, fileId, link('W'))).json
    expect(data).toMatchObject({
      subjectId: 'for the team',
      refId: expect.stringMatching(/^[0-9A-Za-z]{24}$/),
    })
    expect(data.url).toBe(`https://${aliceTag}/shared#token=${data.refId}`)
    const reference = await findReference(lab.db.reader(alice.tenantId), data.refId)
    expect(reference).toMatchObject({
      type: 'share.file',
      resourceId: fileId,
      accessLevel: 'write',
      count: null,
      createdBy: aliceTag,
    })
    expect((await list(lab, fileId)).json.data).toEqual([data])
    expect(await canRead(lab, fileId, { as: holder(`file:${fileId}:write`, data.refId) })).toBe(true)
    expect(lab.notices).toEqual([])
  })

  test('is told to nobody who may not manage the reference', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const { refId, url, ...plain } = (await share(lab, fileId, link('W'))).json.data
    await share(lab, fileId, toBob('W'))
    const scoped = (scope: string) => ({ ...owner, scope: parseScope(scope) })
    const whole = { ...plain, refId, url }
    for (const [as, seen] of [
      [scoped('admin'), whole],
      [scoped('admin:files admin:refs'), whole],
      [scoped('admin:files'), plain],
      [scoped('admin:files write:refs read'), plain],
      // The link would outlive what Bob may do himself.
      [identity(bobTag, alice), plain],
    ] as const) {
      expect((await list(lab, fileId, { as: as as never })).json.data[0]).toEqual(seen)
      const { data } = (await lab.send('GET', '/api/shares?subjectId=for%20the%20team', { as: as as never }))
        .json
      expect(data).toEqual([seen])
    }
    const changed = await share(lab, fileId, link('R'), { as: scoped('admin:files') as never })
    expect(changed.json.data).toEqual({ ...plain, permission: 'R' })
  })

  test('keeps its address when it is changed, and what was given out is worth what it says now', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const before = (await share(lab, fileId, link('W'))).json.data
    const expiresAt = new Date(lab.clock.now() + 60_000).toISOString()
    const changed = await share(lab, fileId, link('R', { expiresAt }))
    expect([changed.status, changed.json.data]).toEqual([200, { ...before, permission: 'R', expiresAt }])
    const guest = holder(`file:${fileId}:write`, before.refId)
    expect(await canRead(lab, fileId, { as: guest })).toBe(true)
    lab.clock.advance(60_000)
    expect(await canRead(lab, fileId, { as: guest })).toBe(false)
  })

  test('is worthless at once when the share ends, or the file is gone', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const { id, refId } = (await share(lab, fileId, link())).json.data
    const guest = holder(`file:${fileId}:read`, refId)
    expect(await canRead(lab, fileId, { as: guest })).toBe(true)
    await end(lab, fileId, id)
    expect(await canRead(lab, fileId, { as: guest })).toBe(false)
    const reader = lab.db.reader(alice.tenantId)
    expect(await findReference(reader, refId)).toBeUndefined()
    const second = (await share(lab, fileId, link())).json.data
    await share(lab, fileId, toBob())
    await lab.send('DELETE', `/api/files/${fileId}`, { as: owner })
    await lab.send('DELETE', `/api/files/${fileId}?permanent=true`, { as: owner })
    expect(await findReference(reader, second.refId)).toBeUndefined()
    await lab.settle()
    expect(lab.notices.at(-1)).toMatchObject({ audienceTag: bobTag, caller: undefined, grant: 'withdrawn' })
  })

  test('opens only its own file and what is in it', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const inside = await make(lab, 'CRDT', { parentId: box })
    const other = await make(lab)
    const { refId } = (await share(lab, box, link())).json.data
    const guest = { as: holder(`file:${box}:read`, refId) }
    expect(await canRead(lab, inside, guest)).toBe(true)
    expect(await canRead(lab, other, guest)).toBe(false)
    // A token says which file its reference is for; another one does not make it another reference.
    expect(await canRead(lab, other, { as: holder(`file:${other}:read`, refId) })).toBe(false)
    for (const [method, path] of [
      ['GET', '/api/tags'],
      ['GET', '/api/me/usage'],
      ['GET', '/api/shares?subjectId=x'],
      ['DELETE', '/api/trash'],
      ['GET', '/api/collections/FAVR'],
      ['DELETE', `/api/files/${inside}`],
      ['PATCH', `/api/files/${inside}/user`],
    ] as const)
      expect([path, failureOf(await lab.send(method, path, guest))]).toEqual([path, '403 E-AUTH-FORBIDDEN'])
  })
})

eachDialect('Sharing with the readers of a file', (open) => {
  const openLab = filesLab(open)
  const toReaders = (subjectId: string, permission = 'R') => ({ subjectType: 'F', subjectId, permission })

  test('lets in whoever reads that file, as long as they do', async () => {
    const lab = await openLab()
    const [subject, fileId] = [await make(lab), await make(lab)]
    expect((await share(lab, fileId, toReaders(subject, 'W'))).status).toBe(201)
    expect(await canRead(lab, fileId, { as: asBob })).toBe(false)
    const { id } = (await share(lab, subject, toBob())).json.data
    expect(await canRead(lab, fileId, { as: asBob })).toBe(true)
    expect((await list(lab, fileId, { as: asBob })).status).toBe(200)
    const guest = { as: await lab.makeHolder(subject) }
    expect(await canRead(lab, fileId, guest)).toBe(true)
    await end(lab, subject, id)
    expect(await canRead(lab, fileId, { as: asBob })).toBe(false)
  })

  test('of a public file lets everybody read, and nobody in particular write', async () => {
    const lab = await openLab()
    const subject = await make(lab, 'CRDT', { visibility: 'P' })
    const { fileId } = (await lab.upload('a', 'hello')).json.data
    await share(lab, fileId, toReaders(subject, 'W'))
    const read = await lab.send('GET', `/api/files/${fileId}`)
    expect([read.status, read.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable'])
    expect((await list(lab, fileId, { as: asBob })).status).toBe(200)
    await lab.relate(alice, caraTag, { isBlocked: true, at: 1 })
    expect(failureOf(await list(lab, fileId, { as: asCara }))).toBe('403 E-AUTH-FORBIDDEN')
  })

  test('needs to read that file, and it to be another one', async () => {
    const lab = await openLab()
    const [subject, fileId] = [await make(lab), await make(lab)]
    await share(lab, fileId, toBob('W'))
    expect(failureOf(await share(lab, fileId, toReaders(subject), { as: asBob }))).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await share(lab, fileId, toReaders(fileId)))).toBe('400 E-VALIDATION')
  })

  test('is not with those of another owner’s file, who would be theirs to say', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const copied = `d1~${'C'.repeat(42)}A` as FileId
    const shared = { fileId: copied, ownerTag: bobTag, fileName: 'plan', contentType: undefined }
    await lab.db.transact(alice.tenantId, (tx) =>
      addSharedFile(lab.deps, tx, { ...shared, expiresAt: undefined }),
    )
    expect(failureOf(await share(lab, fileId, toReaders(copied, 'W')))).toBe('403 E-AUTH-FORBIDDEN')
    expect(await list(lab, fileId)).toMatchObject({ json: { data: [] } })
  })

  test('may go round in circles', async () => {
    const lab = await openLab()
    const [one, two] = [await make(lab), await make(lab)]
    await share(lab, one, toReaders(two))
    await share(lab, two, toReaders(one))
    expect(await canRead(lab, one, { as: asBob })).toBe(false)
    await share(lab, one, toBob())
    expect(await canRead(lab, two, { as: asBob })).toBe(true)
  })
})

eachDialect('The shares of a subject', (open) => {
  const openLab = filesLab(open)
  const sharesOf = (lab: FilesLab, query: string, sent: Sent = {}) =>
    lab.send('GET', `/api/shares?${query}`, { as: owner, ...sent })

  test('are shown to it, and to those who may write the files', async () => {
    const lab = await openLab()
    const [one, two] = [await make(lab), await make(lab)]
    const first = (await share(lab, one, toBob())).json.data
    const second = (await share(lab, two, toBob('W'))).json.data
    await share(lab, one, { subjectType: 'L', subjectId: bobTag, permission: 'R' })
    const ids = async (query: string, sent: Sent = {}) =>
      (await sharesOf(lab, query, sent)).json.data.map(({ id }: { id: number }) => id)
    expect(await ids(`subjectId=${bobTag}`)).toHaveLength(3)
    expect(await ids(`subjectId=${bobTag}&subjectType=U`)).toEqual([first.id, second.id])
    // He reads the one, and may write the other; the link that is called like him is not his.
    expect(await ids(`subjectId=${bobTag}`, { as: asBob })).toEqual([first.id, second.id])
    expect(await ids(`subjectId=${bobTag}`, { as: asCara })).toEqual([])
    await share(lab, two, toCara('W'))
    expect(await ids(`subjectId=${bobTag}`, { as: asCara })).toEqual([second.id])
    expect(await ids(`subjectId=${bobTag}`, { at: bob, as: identity(bobTag, bob) })).toEqual([])
    expect(await ids(`subjectId=BOB.Example&subjectType=U`)).toEqual([first.id, second.id])
    expect(failureOf(await sharesOf(lab, ''))).toBe('400 E-VALIDATION')
    expect(failureOf(await sharesOf(lab, `subjectId=${bobTag}`, { as: { kind: 'guest' } }))).toBe(
      '401 E-AUTH-UNAUTH',
    )
    const narrow = identity(aliceTag, alice, { scope: 'read:actions' })
    expect(failureOf(await sharesOf(lab, `subjectId=${bobTag}`, { as: narrow }))).toBe('403 E-AUTH-FORBIDDEN')
  })
})

eachDialect('The shares of a subject', (open) => {
  const openLab = filesLab(open)

  test('come by page, none lost and none twice', async () => {
    const lab = await openLab()
    const made: number[] = []
    for (let count = 0; count < 5; count += 1)
      made.push((await share(lab, await make(lab), toBob())).json.data.id)
    const page = async (query: string) =>
      (await lab.send('GET', `/api/shares?subjectId=${bobTag}&${query}`, { as: owner })).json
    const found: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, cursorPagination } = await page(`limit=2${cursor && `&cursor=${cursor}`}`)
      found.push(...data.map(({ id }: { id: number }) => id))
      cursor = cursorPagination.nextCursor
    }
    expect(found).toEqual(made)
    const from = await page('limit=2&offset=3')
    expect(from.data.map(({ id }: { id: number }) => id)).toEqual(made.slice(3))
    expect(from.pagination).toMatchObject({ total: 5, offset: 3, limit: 2 })
  })
})

eachDialect('File share actions', (open) => {
  const openLab = filesLab(open)
  const actionsOf = (lab: FilesLab) =>
    shareActions({ ...lab.shareDeps, jobs: lab.jobs, beforeRemoval: lab.deps.beforeRemoval })

  test('grant and withdraw at the owner', async () => {
    const lab = await openLab()
    const actions = actionsOf(lab)
    const fileId = await make(lab)
    const action = {
      issuerTag: aliceTag,
      audienceTag: bobTag,
      subject: fileId,
      content: { permission: 'WRITE' },
    }
    for (let times = 0; times < 2; times += 1)
      await lab.db.transact(alice.tenantId, (tx) => actions.grant(tx, alice, action))
    expect((await list(lab, fileId)).json.data).toMatchObject([
      { subjectId: bobTag, permission: 'W', createdBy: aliceTag },
    ])
    await share(lab, fileId, toBob('A'))
    await lab.db.transact(alice.tenantId, (tx) => actions.grant(tx, alice, action))
    expect((await list(lab, fileId)).json.data).toMatchObject([{ permission: 'A' }])
    for (let times = 0; times < 2; times += 1)
      await lab.db.transact(alice.tenantId, (tx) => actions.withdraw(tx, alice, action))
    expect((await list(lab, fileId)).json.data).toEqual([])
    const unknown = { ...action, subject: `b1~${'A'.repeat(43)}` }
    await lab.db.transact(alice.tenantId, (tx) => actions.grant(tx, alice, unknown))
    await lab.db.transact(alice.tenantId, (tx) =>
      actions.withdraw(tx, alice, { ...action, subject: undefined }),
    )
  })

  test('are described for those who may share', async () => {
    const lab = await openLab()
    const actions = actionsOf(lab)
    const fileId = (await make(lab, 'CRDT', { fileName: 'plan' })) as never
    const reader = lab.db.reader(alice.tenantId)
    const asked = { tenant: alice, audienceTag: caraTag, expiresAt: undefined }
    const describe = (caller: typeof owner | undefined, permission: 'READ' | 'WRITE' = 'READ') =>
      actions.describe(reader, { ...asked, caller: caller as never, fileId, permission })
    const described = { fileName: 'plan', contentType: 'application/x-crdt', fileTp: 'CRDT' }
    expect(await describe(owner, 'WRITE')).toEqual(described)
    expect(await describe(undefined)).toEqual(described)
    await expect(describe(asBob)).rejects.toMatchObject({ code: 'E-FILE-NOTFOUND' })
    await share(lab, fileId, toBob('R'))
    await expect(describe(asBob)).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
    const narrow = identity(aliceTag, alice, { scope: 'write' })
    await expect(describe(narrow)).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
  })

  test('put the file on the list of whoever accepts them, and take it off again', async () => {
    const lab = await openLab()
    const actions = actionsOf(lab)
    const at = { at: bob, as: identity(bobTag, bob) }
    const document = `f1~${'A'.repeat(43)}`
    const blob = `b1~${'A'.repeat(43)}`
    const content = { permission: 'READ', fileName: 'plan', contentType: 'text/html\r\nx: y' }
    const names = async () =>
      (await lab.send('GET', '/api/files', at)).json.data.map((file: { fileName: string }) => file.fileName)
    for (const subject of [document, blob, document])
      await lab.db.transact(bob.tenantId, (tx) =>
        actions.accept(tx, { issuerTag: aliceTag, subject, content }),
      )
    const { data } = (await lab.send('GET', `/api/files/${document}/metadata`, at)).json
    expect(data).toMatchObject({
      owner: { idTag: aliceTag },
      fileTp: 'CRDT',
      status: 'A',
      contentType: 'application/octet-stream',
    })
    expect((await lab.send('GET', `/api/files/${blob}/metadata`, at)).json.data).toMatchObject({
      status: 'P',
    })
    expect(await lab.remains(bob)).toMatchObject({ files: 2, jobs: 1 })
    expect(
      (await lab.send('GET', `/api/files/${document}/metadata`, { at: bob, as: identity(aliceTag, bob) }))
        .status,
    ).toBe(404)
    expect(failureOf(await share(lab, document, toCara(), at))).toBe('403 E-AUTH-FORBIDDEN')
    const drop = (issuerTag: IdTag, subject: string) =>
      lab.db.transact(bob.tenantId, (tx) => actions.drop(tx, { issuerTag, subject }))
    await drop(caraTag, document)
    expect(await names()).toEqual(['plan', 'plan'])
    await drop(aliceTag, document)
    await drop(aliceTag, document)
    expect(await names()).toEqual(['plan'])
    const own = (await lab.send('POST', '/api/files', { ...at, json: { fileTp: 'CRDT' } })).json.data.fileId
    await drop(bobTag, own)
    expect((await lab.send('GET', `/api/files/${own}/metadata`, at)).status).toBe(200)
    expect(await lab.usage(bob)).toMatchObject({ files: 2 })
  })

  test('show it no longer than it is shared', async () => {
    const lab = await openLab()
    const at = { at: bob, as: identity(bobTag, bob) }
    const subject = `f1~${'A'.repeat(43)}`
    const until = (seconds: number | undefined) => ({
      issuerTag: aliceTag,
      subject,
      content: seconds === undefined ? {} : { expiresAt: lab.clock.now() / 1000 + seconds },
    })
    const accept = (seconds?: number) =>
      lab.db.transact(bob.tenantId, (tx) => actionsOf(lab).accept(tx, until(seconds)))
    const renew = (seconds: number | undefined, issuerTag = aliceTag) =>
      lab.db.transact(bob.tenantId, (tx) => actionsOf(lab).renew(tx, { ...until(seconds), issuerTag }))
    const seen = async () => [
      await canRead(lab, subject, at),
      (await lab.send('GET', '/api/files', at)).json.data.length,
      (await lab.usage(bob))?.files,
    ]
    await accept(60)
    await renew(30, caraTag)
    lab.clock.advance(59_000)
    await sweepCopies(lab.deps)
    expect(await seen()).toEqual([true, 1, 1])
    lab.clock.advance(1_000)
    expect(await seen()).toEqual([false, 0, 1])
    await sweepCopies(lab.deps)
    expect(await seen()).toEqual([false, 0, 0])
    await accept(60)
    await renew(undefined)
    lab.clock.advance(60_000)
    expect(await seen()).toEqual([true, 1, 1])
    await accept(60)
    await renew(30)
    lab.clock.advance(30_000)
    expect(await seen()).toEqual([false, 0, 1])
  })

  test('put a folder there in which nothing else has its place', async () => {
    const lab = await openLab()
    const at = { at: bob, as: identity(bobTag, bob) }
    const box = `d1~${'A'.repeat(43)}`
    await lab.db.transact(bob.tenantId, (tx) =>
      actionsOf(lab).accept(tx, { issuerTag: aliceTag, subject: box, content: {} }),
    )
    const own = (await lab.send('POST', '/api/files', { ...at, json: { fileTp: 'CRDT' } })).json.data.fileId
    const upload = { 'tus-resumable': '1.0.0', 'upload-length': '1' }
    const metadata = `filename ${btoa('a')},parentId ${btoa(box)}`
    await lab.send('DELETE', `/api/files/${own}`, at)
    for (const attempt of [
      lab.upload('a', 'x', { ...at, query: `?parentId=${box}` }),
      lab.send('POST', '/api/uploads', { ...at, headers: { ...upload, 'upload-metadata': metadata } }),
      lab.send('POST', '/api/files', { ...at, json: { fileTp: 'FLDR', parentId: box } }),
      lab.send('POST', `/api/files/${own}/restore`, { ...at, json: { parentId: box } }),
    ])
      expect(failureOf(await attempt)).toBe('403 E-AUTH-FORBIDDEN')
    await lab.send('POST', `/api/files/${own}/restore`, at)
    for (const [method, path] of [
      ['PATCH', `/api/files/${own}`],
      ['POST', `/api/files/${own}/duplicate`],
    ] as const)
      expect(failureOf(await lab.send(method, path, { ...at, json: { parentId: box } }))).toBe(
        '403 E-AUTH-FORBIDDEN',
      )
  })

  test('leave it to the owner who else may read the file', async () => {
    const lab = await openLab()
    const at = { at: bob, as: identity(bobTag, bob) }
    const asCaraThere = { at: bob, as: identity(caraTag, bob) }
    const fileId = `f1~${'A'.repeat(43)}`
    const shared = { issuerTag: aliceTag, subject: fileId, content: {} }
    await lab.db.transact(bob.tenantId, (tx) => actionsOf(lab).accept(tx, shared))
    const change = (json: object) => lab.send('PATCH', `/api/files/${fileId}`, { ...at, json })
    for (const visibility of ['P', 'V', 'F', 'C'])
      expect(failureOf(await change({ visibility }))).toBe('403 E-AUTH-FORBIDDEN')
    const box = (await lab.send('POST', '/api/files', { ...at, json: { fileTp: 'FLDR' } })).json.data.fileId
    await share(lab, box, toCara('W'), at)
    expect((await change({ parentId: box, fileName: 'mine', visibility: null })).status).toBe(200)
    expect(await canRead(lab, box, asCaraThere)).toBe(true)
    expect(await canRead(lab, fileId, asCaraThere)).toBe(false)
    const held = { by: bobTag, at: bob }
    expect(await canRead(lab, fileId, { at: bob, as: await lab.makeHolder(fileId, 'read', held) })).toBe(
      false,
    )
    expect(await canRead(lab, fileId, { at: bob, as: await lab.makeHolder(box, 'read', held) })).toBe(false)
  })

  test('take no file of the tenant’s own away with a folder', async () => {
    const lab = await openLab()
    const at = { at: bob, as: identity(bobTag, bob) }
    const box = `d1~${'A'.repeat(43)}`
    const shared = { issuerTag: aliceTag, subject: box, content: {} }
    await lab.db.transact(bob.tenantId, (tx) => actionsOf(lab).accept(tx, shared))
    const made = async (fileTp: string, body: object = {}) =>
      (await lab.send('POST', '/api/files', { ...at, json: { fileTp, ...body } })).json.data.fileId
    const inner = await made('FLDR')
    const leaf = await made('CRDT', { parentId: inner })
    await lab.placeAsBefore(inner, box, bob)
    await lab.db.transact(bob.tenantId, (tx) => actionsOf(lab).drop(tx, shared))
    const { data } = (await lab.send('GET', '/api/files', at)).json
    const places = data.map(({ fileId, parentId }: Record<string, string | null>) => [fileId, parentId])
    expect(new Map(places)).toEqual(
      new Map([
        [inner, null],
        [leaf, inner],
      ]),
    )
    expect(await lab.inconsistencies(bob)).toEqual([])
  })
})
