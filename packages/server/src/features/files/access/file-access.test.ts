import type { FileId } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bob,
  bobTag,
  club,
  clubTag,
  type FilesLab,
  filesLab,
  identity,
} from '#harness/files-lab.ts'
import type { Caller } from '#infra/caller/index.ts'
import { assertAttachable } from './assert-attachable.ts'
import { findAccessibleFile, hasShares } from './file-access-store.ts'
import { findFileViewer } from './find-file-viewer.ts'

const caraTag = 'cara.example' as typeof bobTag
const callers = {
  guest: undefined,
  owner: identity(aliceTag, alice),
  bob: identity(bobTag, alice),
}
type Name = keyof typeof callers

eachDialect('Who may read a file', (open) => {
  const openLab = filesLab(open)

  async function uploaded(lab: FilesLab, visibility?: string): Promise<string> {
    const query = visibility === undefined ? '' : `?visibility=${visibility}`
    return (await lab.upload('a', 'hello', { query })).json.data.fileId
  }

  async function readers(lab: FilesLab, fileId: string): Promise<Name[]> {
    const names: Name[] = []
    for (const [name, as] of Object.entries(callers)) {
      const answer = await lab.send('GET', `/api/files/${fileId}/metadata`, as ? { as } : {})
      if (answer.status === 200) names.push(name as Name)
      else expect(answer.status).toBe(404)
    }
    return names
  }

  describe('by its visibility:', () => {
    const at = 1
    const bonds = {
      nothing: {},
      follows: { isFollower: true },
      connected: { connection: 'connected' },
      asked: { connection: 'asked' },
      'is followed': { isFollowing: true },
      'follows, and is blocked': { isFollower: true, connection: 'connected', isBlocked: true },
    } as const

    test.each([
      ['P', 'nothing', ['guest', 'owner', 'bob']],
      ['P', 'follows, and is blocked', ['guest', 'owner', 'bob']],
      ['V', 'nothing', ['owner', 'bob']],
      ['V', 'follows, and is blocked', ['owner']],
      ['F', 'nothing', ['owner']],
      ['F', 'is followed', ['owner']],
      ['F', 'follows', ['owner', 'bob']],
      ['F', 'connected', ['owner', 'bob']],
      ['F', 'follows, and is blocked', ['owner']],
      ['C', 'follows', ['owner']],
      ['C', 'asked', ['owner']],
      ['C', 'connected', ['owner', 'bob']],
      ['C', 'follows, and is blocked', ['owner']],
      [undefined, 'connected', ['owner']],
    ] as const)('%s, when Bob has the bond: %s', async (visibility, bond, expected) => {
      const lab = await openLab()
      await lab.relate(alice, bobTag, { ...bonds[bond], at })
      expect(await readers(lab, await uploaded(lab, visibility))).toEqual(expected)
    })
  })

  describe('by the actions it is attached to:', () => {
    test.each([
      ['P', 'A', ['guest', 'owner', 'bob']],
      ['V', 'A', ['owner', 'bob']],
      ['C', 'A', ['owner']],
      ['P', 'C', ['guest', 'owner', 'bob']],
      ['P', 'R', ['owner']],
      ['P', 'S', ['owner']],
      ['P', 'D', ['owner']],
      ['P', 'P', ['owner']],
    ] as const)('visibility %s, status %s', async (visibility, status, expected) => {
      const lab = await openLab()
      const fileId = await uploaded(lab)
      await lab.putAction(alice, { visibility, status, attachments: [fileId] })
      expect(await readers(lab, fileId)).toEqual(expected)
    })

    test('the widest of several counts, and nothing else becomes readable by it', async () => {
      const lab = await openLab()
      const [fileId, other] = [await uploaded(lab), await uploaded(lab)]
      await lab.putAction(alice, { visibility: null, attachments: [fileId, other] })
      await lab.putAction(alice, { visibility: 'V', attachments: [fileId] })
      expect(await readers(lab, fileId)).toEqual(['owner', 'bob'])
      expect(await readers(lab, other)).toEqual(['owner'])
    })

    test('a folder that is shown says nothing of what is in it', async () => {
      const lab = await openLab()
      const fileIn = async (visibility: 'P' | null) => {
        const json = { fileTp: 'FLDR', visibility }
        const box = (await lab.send('POST', '/api/files', { as: callers.owner, json })).json.data.fileId
        const { fileId } = (await lab.upload('a', 'hello', { query: `?parentId=${box}` })).json.data
        return { box, fileId }
      }
      const [visible, attached] = [await fileIn('P'), await fileIn(null)]
      await lab.putAction(alice, { visibility: 'P', attachments: [attached.box] })
      for (const { box, fileId } of [visible, attached]) {
        expect(await readers(lab, box)).toEqual(['guest', 'owner', 'bob'])
        expect(await readers(lab, fileId)).toEqual(['owner'])
        expect((await lab.send('GET', `/api/files?parentId=${box}`)).json.data).toEqual([])
      }
    })

    test.each(['person', 'community'] as const)(
      'on the host of a %s, only those it composed',
      async (type) => {
        const lab = await openLab()
        const host = type === 'person' ? alice : club
        const member = identity(bobTag, club, { role: 'contributor' })
        const as = type === 'person' ? callers.owner : member
        const { fileId } = (await lab.upload('a', 'hello', { at: host, as })).json.data
        const box = (await lab.send('POST', '/api/files', { at: host, as, json: { fileTp: 'FLDR' } })).json
          .data
        const files = [fileId, box.fileId]
        const isShown = async (id: string) =>
          (await lab.send('GET', `/api/files/${id}/metadata`, { at: host })).status === 200
        const show = (issuer?: typeof bobTag) =>
          lab.putAction(host, { visibility: 'P', attachments: files, ...(issuer ? { issuer } : {}) })
        await show(caraTag)
        // Whose a member's file is says nothing of what somebody signs elsewhere.
        await show(bobTag)
        expect(await Promise.all(files.map(isShown))).toEqual([false, false])
        await show()
        expect(await Promise.all(files.map(isShown))).toEqual([true, true])
      },
    )

    test.each([
      [alice, false],
      [club, true],
    ])(
      'a copy that its owner shows to all is public where visitors read others: %o',
      async (host, isPublic) => {
        const lab = await openLab()
        const as = identity(host.idTag, host)
        const { fileId } = (await lab.upload('a', 'hello', { at: host, as })).json.data
        await lab.makeCopy(fileId, caraTag, host)
        await lab.putAction(host, { visibility: 'P', attachments: [fileId], issuer: caraTag })
        const reader = lab.db.reader(host.tenantId)
        const who = await findFileViewer(reader, { tenant: host, caller: as, now: 2 })
        expect(await findAccessibleFile(reader, who, { fileId, now: 2 })).toMatchObject({
          level: 3,
          isPublic,
        })
        const visit = await lab.send('GET', `/api/files/${fileId}/metadata`, { at: host })
        expect(visit.status).toBe(isPublic ? 200 : 404)
      },
    )

    test('an action that another tenant holds says nothing here', async () => {
      const lab = await openLab()
      const fileId = await uploaded(lab)
      await lab.putAction(bob, { visibility: 'P', attachments: [fileId], issuer: aliceTag })
      expect(await readers(lab, fileId)).toEqual(['owner'])
    })
  })

  type Subject = { readonly lab: FilesLab; readonly fileId: string }
  const subjects: [string, (subject: Subject) => Promise<unknown>, boolean][] = [
    ['is there', async () => undefined, true],
    [
      'is in the trash',
      ({ lab, fileId }) => lab.send('DELETE', `/api/files/${fileId}`, { as: callers.owner }),
      false,
    ],
    ['is a copy of what others have', ({ lab, fileId }) => lab.makeCopy(fileId, caraTag), false],
  ]
  test.each(subjects)('what is shared with the readers of a file that %s', async (_, happen, isShown) => {
    const lab = await openLab()
    const make = async (json: object) =>
      (await lab.send('POST', '/api/files', { as: callers.owner, json })).json.data.fileId
    const share = (fileId: string, json: object) =>
      lab.send('POST', `/api/files/${fileId}/shares`, { as: callers.owner, json })
    const box = await make({ fileTp: 'FLDR' })
    const fileId = await make({ fileTp: 'CRDT', parentId: box })
    const given = await make({ fileTp: 'CRDT' })
    // Bob may take it out of the trash, and reads it there.
    for (const id of [box, fileId]) await share(id, { subjectType: 'U', subjectId: bobTag, permission: 'W' })
    await share(given, { subjectType: 'F', subjectId: fileId, permission: 'R' })
    await happen({ lab, fileId })
    expect(await readers(lab, fileId)).toEqual(['owner', 'bob'])
    expect(await readers(lab, given)).toEqual(isShown ? ['owner', 'bob'] : ['owner'])
    expect(await readers(lab, await make({ fileTp: 'CRDT' }))).toEqual(['owner'])
  })

  test('in a community: its moderators all, members their own', async () => {
    const lab = await openLab()
    const member = (name: typeof bobTag, role: 'contributor' | 'moderator' | 'follower') =>
      identity(name, club, { role })
    const sent = { at: club, as: member(bobTag, 'contributor') }
    const { fileId } = (await lab.upload('a', 'hello', sent)).json.data
    const status = async (as: ReturnType<typeof identity>) =>
      (await lab.send('GET', `/api/files/${fileId}`, { at: club, as })).status
    expect(await status(member(bobTag, 'contributor'))).toBe(200)
    expect(await status(member(bobTag, 'follower'))).toBe(200)
    expect(await status(member(caraTag, 'moderator'))).toBe(200)
    expect(await status(identity(clubTag, club))).toBe(200)
    expect(await status(member(caraTag, 'contributor'))).toBe(404)
  })

  test('in a community: who contributes no more has their files by what is shared with them', async () => {
    const lab = await openLab()
    const as = identity(clubTag, club)
    const make = async (fileTp: string, caller = as): Promise<FileId> =>
      (await lab.send('POST', '/api/files', { at: club, as: caller, json: { fileTp } })).json.data.fileId
    const fileId = await make('CRDT', identity(bobTag, club, { role: 'contributor' }))
    const caller = identity(bobTag, club, { role: 'follower' })
    const level = async () => {
      const reader = lab.db.reader(club.tenantId)
      const who = await findFileViewer(reader, { tenant: club, caller, now: 1 })
      return (await findAccessibleFile(reader, who, { fileId, now: 1 }))?.level
    }
    expect(await level()).toBe(1)
    const box = await make('FLDR')
    const json = { subjectType: 'U', subjectId: bobTag, permission: 'W' }
    await lab.send('POST', `/api/files/${box}/shares`, { at: club, as, json })
    await lab.send('PATCH', `/api/files/${fileId}`, { at: club, as, json: { parentId: box } })
    expect(await level()).toBe(2)
  })

  test('what is shared with the caller is not public for that', async () => {
    const lab = await openLab()
    const fileId = (await uploaded(lab)) as FileId
    // What everybody may read depends on shares only where some are with the readers of a file.
    for (const [subjectType, subjectId] of [
      ['U', bobTag],
      ['F', await uploaded(lab)],
    ] as const) {
      const json = { subjectType, subjectId, permission: 'R' }
      await lab.send('POST', `/api/files/${fileId}/shares`, { as: callers.owner, json })
    }
    const reader = lab.db.reader(alice.tenantId)
    const who = await findFileViewer(reader, { tenant: alice, caller: callers.bob, now: 1 })
    const found = await findAccessibleFile(reader, who, { fileId, now: 1 })
    expect(found).toMatchObject({ level: 1, isPublic: false })
  })

  test('a folder is shared in its own tenant, and in no other', async () => {
    const lab = await openLab()
    const json = { fileTp: 'FLDR' }
    const { fileId } = (await lab.send('POST', '/api/files', { as: callers.owner, json })).json.data
    const share = { subjectType: 'U', subjectId: bobTag, permission: 'R' }
    await lab.send('POST', `/api/files/${fileId}/shares`, { as: callers.owner, json: share })
    for (const { tenantId } of [alice, bob])
      expect(await hasShares(lab.db.reader(tenantId), [fileId], 1)).toBe(tenantId === alice.tenantId)
  })
})

eachDialect('What may be attached to an action', (open) => {
  const openLab = filesLab(open)

  test('is what belongs to the issuer and is not in the trash', async () => {
    const lab = await openLab()
    const reader = lab.db.reader(alice.tenantId)
    const { fileId } = (await lab.upload('a', 'hello')).json.data
    const attach = (attachments: string[], caller: Caller = callers.owner) =>
      assertAttachable(reader, { tenant: alice, caller, attachments, now: 1 })
    await attach([])
    await attach([fileId, fileId])
    const refused = { code: 'E-FILE-NOTFOUND' }
    await expect(attach([fileId, `b1~${'A'.repeat(43)}`])).rejects.toMatchObject(refused)
    await expect(attach(['x'])).rejects.toMatchObject(refused)
    await expect(attach([fileId], callers.bob)).rejects.toMatchObject(refused)
    await expect(attach([fileId], { kind: 'guest' })).rejects.toMatchObject(refused)
    const atBob = { tenant: bob, caller: identity(bobTag, bob), attachments: [fileId], now: 1 }
    await expect(assertAttachable(lab.db.reader(bob.tenantId), atBob)).rejects.toMatchObject(refused)
  })

  test.each([
    ['that is in the trash', 'trashed'],
    ['in a folder that is', 'trashed with its folder'],
    ['that is a copy', 'copied'],
  ] as const)('is nothing %s', async (_which, happened) => {
    const lab = await openLab()
    const make = async (json: object): Promise<string> =>
      (await lab.send('POST', '/api/files', { as: callers.owner, json })).json.data.fileId
    const folder = await make({ fileTp: 'FLDR' })
    const fileId = await make({ fileTp: 'CRDT', parentId: folder })
    const input = { tenant: alice, caller: callers.owner, attachments: [fileId], now: 1 }
    const attach = () => assertAttachable(lab.db.reader(alice.tenantId), input)
    await attach()
    if (happened === 'copied') await lab.makeCopy(fileId, bobTag)
    else {
      const gone = happened === 'trashed' ? fileId : folder
      await lab.send('DELETE', `/api/files/${gone}`, { as: callers.owner })
    }
    await expect(attach()).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
  })

  test('is refused as what it is where the caller may read it, and as unknown where not', async () => {
    const lab = await openLab()
    const { fileId } = (await lab.upload('a', 'hello')).json.data
    await lab.putAction(alice, { visibility: 'P', attachments: [fileId] })
    const { fileId: hidden } = (await lab.upload('b', 'hello')).json.data
    const attach = (attachments: string[]) =>
      assertAttachable(lab.db.reader(alice.tenantId), {
        tenant: alice,
        caller: callers.bob,
        attachments,
        now: 1,
      })
    await expect(attach([fileId])).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
    await expect(attach([fileId, hidden])).rejects.toMatchObject({ code: 'E-FILE-NOTFOUND' })
  })

  const all = undefined
  const [forbidden, unknown] = ['E-AUTH-FORBIDDEN', 'E-FILE-NOTFOUND']
  const both = 'write:files write:actions'
  const scopes: [string | undefined, string, string, string | undefined][] = [
    [all, 'admin', 'another', undefined],
    [all, 'admin:files write:actions', 'another', undefined],
    [all, 'write', 'another', forbidden],
    [all, both, 'another', forbidden],
    [all, 'read:files write:actions', 'another', forbidden],
    [all, 'write:actions', 'another', unknown],
    [all, 'write:actions admin:profile', 'another', unknown],
    [both, 'write:actions write:files', 'the same', undefined],
    [both, both, 'another', forbidden],
    ['write', 'write', 'the same', undefined],
    // What is minted of a session is no wider than that.
    [all, both, 'the same', forbidden],
    [all, 'write:actions', 'the same', unknown],
    ['write', both, 'the same', forbidden],
  ]
  test.each(scopes)('uploaded by a credential for %s, by one for %s of %s session: %s', async (...given) => {
    const [made, scope, sessionId, code] = given
    const lab = await openLab()
    for (const host of [alice, club]) {
      const [name, role] = host === alice ? [aliceTag, 'leader' as const] : [bobTag, 'contributor' as const]
      const maker = { role, sessionId: 'the same', ...(made === undefined ? {} : { scope: made }) }
      const upload = { at: host, as: identity(name, host, maker) }
      const { fileId } = (await lab.upload('a', 'hello', upload)).json.data
      const json = { fileTp: 'CRDT' }
      const { fileId: documentId } = (await lab.send('POST', '/api/files', { ...upload, json })).json.data
      const caller = identity(name, host, { role, scope, sessionId })
      for (const attached of [fileId, documentId]) {
        const input = { tenant: host, caller, attachments: [attached], now: 1 }
        const attempt = assertAttachable(lab.db.reader(host.tenantId), input)
        if (code) await expect(attempt).rejects.toMatchObject({ code })
        else await attempt
      }
    }
  })

  test('without a session nothing was uploaded with the same one', async () => {
    const lab = await openLab()
    const as = identity(aliceTag, alice, { scope: 'write' })
    const { fileId } = (await lab.upload('a', 'hello', { as })).json.data
    const caller = identity(aliceTag, alice, { scope: 'write' })
    const input = { tenant: alice, caller, attachments: [fileId], now: 1 }
    await expect(assertAttachable(lab.db.reader(alice.tenantId), input)).rejects.toMatchObject({
      code: 'E-AUTH-FORBIDDEN',
    })
  })

  test('in a community is a member’s own, for its moderators anything', async () => {
    const lab = await openLab()
    const contributor = (name: typeof bobTag) => identity(name, club, { role: 'contributor' })
    const { fileId } = (await lab.upload('a', 'hello', { at: club, as: contributor(bobTag) })).json.data
    const attach = (caller: ReturnType<typeof identity>) =>
      assertAttachable(lab.db.reader(club.tenantId), { tenant: club, caller, attachments: [fileId], now: 1 })
    await attach(contributor(bobTag))
    await attach(identity(caraTag, club, { role: 'moderator' }))
    await expect(attach(contributor(caraTag))).rejects.toMatchObject({ code: 'E-FILE-NOTFOUND' })
  })
})
