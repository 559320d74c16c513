import type { FileId, IdTag } from '@kith/protocol'
import { describe, expect, test } from 'vitest'
import { eachDialect } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bobTag,
  club,
  type FilesLab,
  failureOf,
  filesLab,
  identity,
  type Sent,
} from '#harness/files-lab.ts'
import { doubtShares } from './doubted-shares-store.ts'
import { shareActions } from './share-actions.ts'
import { listSharesOfFiles, putShare } from './share-store.ts'
import { ShareSweep } from './sweep-shares.ts'

const caraTag = 'cara.example' as IdTag
const dinaTag = 'dina.example' as IdTag
const owner = identity(aliceTag, alice)
const asBob = identity(bobTag, alice)
const asCara = identity(caraTag, alice)
const asDina = identity(dinaTag, alice)

const make = async (lab: FilesLab, fileTp = 'CRDT', body: object = {}, sent: Sent = {}): Promise<string> =>
  (await lab.send('POST', '/api/files', { as: owner, json: { fileTp, ...body }, ...sent })).json.data.fileId
const share = (
  lab: FilesLab,
  fileId: string,
  [subjectId, permission, more = {}]: [IdTag, string, object?],
  sent: Sent = {},
) => {
  const json = { subjectType: 'U', subjectId, permission, ...more }
  return lab.send('POST', `/api/files/${fileId}/shares`, { as: owner, json, ...sent })
}
const end = (lab: FilesLab, fileId: string, shareId: number) =>
  lab.send('DELETE', `/api/files/${fileId}/shares/${shareId}`, { as: owner })
const sharesOf = async (lab: FilesLab, fileId: string) =>
  (await lab.send('GET', `/api/files/${fileId}/shares`, { as: owner })).json.data
const canRead = async (lab: FilesLab, fileId: string, sent: Sent) =>
  (await lab.send('GET', `/api/files/${fileId}/metadata`, sent)).status === 200
const inAMinute = (lab: FilesLab) => new Date(lab.clock.now() + 60_000).toISOString()

eachDialect('Whoever has a file by a share', (open) => {
  const openLab = filesLab(open)

  test('cannot change what was given to them', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const expiresAt = inAMinute(lab)
    await share(lab, fileId, [bobTag, 'W', { expiresAt }])
    for (const more of [[bobTag, 'W'] as [IdTag, string], [bobTag, 'R'] as [IdTag, string]])
      expect(failureOf(await share(lab, fileId, more, { as: asBob }))).toBe('403 E-AUTH-FORBIDDEN')
    expect(await sharesOf(lab, fileId)).toMatchObject([{ permission: 'W', expiresAt, createdBy: aliceTag }])
    expect(lab.notices).toHaveLength(1)
  })

  test('gives on no longer than they have it', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const fileId = await make(lab, 'CRDT', { parentId: box })
    const [expiresAt, later] = [inAMinute(lab), new Date(lab.clock.now() + 90_000).toISOString()]
    await share(lab, box, [bobTag, 'W', { expiresAt }])
    const link = { subjectType: 'L', subjectId: 'x' }
    for (const more of [{}, { expiresAt: later }, link]) {
      const { data } = (await share(lab, fileId, [caraTag, 'W', more], { as: asBob })).json
      expect(data.expiresAt).toBe(expiresAt)
    }
    expect(lab.notices.at(-1)?.grant).toMatchObject({ expiresAt: Date.parse(expiresAt) / 1000 })
    const sooner = new Date(lab.clock.now() + 30_000).toISOString()
    const { data } = (await share(lab, fileId, [caraTag, 'R', { expiresAt: sooner }], { as: asBob })).json
    expect(data.expiresAt).toBe(sooner)
    // Of two ways to have it the longer one counts, also where it has none.
    await share(lab, fileId, [bobTag, 'W', { expiresAt: later }])
    expect((await share(lab, fileId, [caraTag, 'W'], { as: asBob })).json.data.expiresAt).toBe(later)
    await share(lab, fileId, [bobTag, 'W'])
    expect((await share(lab, fileId, [caraTag, 'W'], { as: asBob })).json.data.expiresAt).toBe(null)
    const ownEnd = { expiresAt: later }
    expect((await share(lab, fileId, [bobTag, 'W', ownEnd])).json.data).toMatchObject(ownEnd)
  })

  type Subject = { readonly lab: FilesLab; readonly fileId: string }
  const subjects: [string, (subject: Subject) => Promise<unknown>, boolean][] = [
    ['is there', async () => undefined, true],
    [
      'is in the trash',
      ({ lab, fileId }) => lab.send('DELETE', `/api/files/${fileId}`, { as: owner }),
      false,
    ],
    ['is a copy', ({ lab, fileId }) => lab.makeCopy(fileId, dinaTag), false],
  ]
  test.each(subjects)(
    'gives on by what the readers of a file have, where that file %s',
    async (_, happen, isForGood) => {
      const lab = await openLab()
      const fileId = await make(lab)
      const read = await make(lab, 'CRDT', { visibility: 'P' })
      const expiresAt = inAMinute(lab)
      await share(lab, fileId, [bobTag, 'W', { expiresAt }])
      await share(lab, fileId, [read as IdTag, 'W', { subjectType: 'F' }])
      await happen({ lab, fileId: read })
      const { data } = (await share(lab, fileId, [caraTag, 'R'], { as: asBob })).json
      expect(data.expiresAt).toBe(isForGood ? null : expiresAt)
    },
  )

  test('cannot take more from others than they have, and does not become who gave it', async () => {
    const lab = await openLab()
    const fileId = await make(lab)
    const { id } = (await share(lab, fileId, [bobTag, 'W'])).json.data
    await share(lab, fileId, [caraTag, 'A'])
    for (const permission of ['R', 'W'])
      expect(failureOf(await share(lab, fileId, [caraTag, permission], { as: asBob }))).toBe(
        '403 E-AUTH-FORBIDDEN',
      )
    await share(lab, fileId, [caraTag, 'W'])
    expect((await share(lab, fileId, [caraTag, 'R'], { as: asBob })).status).toBe(200)
    await end(lab, fileId, id)
    expect(await sharesOf(lab, fileId)).toMatchObject([
      { subjectId: caraTag, permission: 'R', createdBy: aliceTag },
    ])
    // What has expired is nobody's any more.
    await share(lab, fileId, [caraTag, 'A', { expiresAt: inAMinute(lab) }])
    await share(lab, fileId, [bobTag, 'W'])
    lab.clock.advance(60_000)
    expect((await share(lab, fileId, [caraTag, 'R'], { as: asBob })).status).toBe(200)
  })

  test('keeps these bounds in the name of a community', async () => {
    const lab = await openLab()
    const actions = shareActions({
      ...lab.shareDeps,
      jobs: lab.jobs,
      beforeRemoval: lab.deps.beforeRemoval,
    })
    const member = identity(bobTag, club, { role: 'contributor' })
    const byLeader = { at: club, as: identity(aliceTag, club, { role: 'leader' }) }
    const fileId = await make(lab, 'CRDT', {}, byLeader)
    const expiresAt = lab.clock.now() / 1000 + 60
    await share(lab, fileId, [bobTag, 'W', { expiresAt }], byLeader)
    const describe = (audienceTag: IdTag) =>
      actions.describe(lab.db.reader(club.tenantId), {
        tenant: club,
        caller: member as never,
        audienceTag,
        fileId: fileId as never,
        permission: 'READ',
        expiresAt: undefined,
      })
    await expect(describe(bobTag)).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
    expect(await describe(caraTag)).toMatchObject({ expiresAt })
    await share(lab, fileId, [caraTag, 'A'], byLeader)
    await expect(describe(caraTag)).rejects.toMatchObject({ code: 'E-AUTH-FORBIDDEN' })
  })
})

eachDialect('What was given on', (open) => {
  const openLab = filesLab(open)
  const actionsOf = (lab: FilesLab) =>
    shareActions({ ...lab.shareDeps, jobs: lab.jobs, beforeRemoval: lab.deps.beforeRemoval })
  /** Bob may write, and has given it to Cara. */
  async function given(lab: FilesLab) {
    const fileId = await make(lab)
    const { id } = (await share(lab, fileId, [bobTag, 'W'])).json.data
    await share(lab, fileId, [caraTag, 'W'], { as: asBob })
    return { fileId, id }
  }

  test('does not found itself by going round', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const fileId = await make(lab, 'CRDT', { parentId: box })
    const { id } = (await share(lab, box, [bobTag, 'W'])).json.data
    await share(lab, fileId, [caraTag, 'W'], { as: asBob })
    expect((await share(lab, fileId, [bobTag, 'W'], { as: asCara })).status).toBe(201)
    await end(lab, box, id)
    for (const as of [asBob, asCara]) expect(await canRead(lab, fileId, { as })).toBe(false)
    expect(await sharesOf(lab, fileId)).toEqual([])
  })

  test('does not found itself by way of the readers of files', async () => {
    const lab = await openLab()
    const [one, two] = [await make(lab), await make(lab)]
    const toReaders = (subjectId: string) => ({ subjectType: 'F', subjectId })
    await share(lab, one, [bobTag, 'W', toReaders(two)])
    await share(lab, two, [bobTag, 'W', toReaders(one)])
    const { id } = (await share(lab, one, [bobTag, 'W'])).json.data
    expect((await share(lab, one, [caraTag, 'R'], { as: asBob })).status).toBe(201)
    expect((await share(lab, two, [bobTag, 'R'], { as: asCara })).status).toBe(201)
    await end(lab, one, id)
    for (const as of [asBob, asCara]) expect(await canRead(lab, one, { as })).toBe(false)
  })

  test('ends at once when its giver is left with less', async () => {
    const lab = await openLab()
    const { fileId } = await given(lab)
    await share(lab, fileId, [bobTag, 'R'])
    expect(await canRead(lab, fileId, { as: asCara })).toBe(false)
    expect(await canRead(lab, fileId, { as: asBob })).toBe(true)
    await lab.settle()
    expect(lab.notices.at(-1)).toMatchObject({ audienceTag: caraTag, grant: 'withdrawn' })
  })

  test('ends at once with the action by which it was given, and with one that gives less', async () => {
    const lab = await openLab()
    const { fileId } = await given(lab)
    const action = { issuerTag: aliceTag, audienceTag: bobTag, subject: fileId, content: {} }
    await lab.db.transact(alice.tenantId, (tx) => actionsOf(lab).grant(tx, alice, action))
    expect(await canRead(lab, fileId, { as: asCara })).toBe(false)
    const again = await given(lab)
    await lab.db.transact(alice.tenantId, (tx) =>
      actionsOf(lab).withdraw(tx, alice, { ...action, subject: again.fileId }),
    )
    expect(await sharesOf(lab, again.fileId)).toEqual([])
  })

  test('stays where it is founded by another way', async () => {
    const lab = await openLab()
    const { fileId, id } = await given(lab)
    await share(lab, fileId, [dinaTag, 'W'])
    await share(lab, fileId, [
      bobTag,
      'W',
      { subjectType: 'F', subjectId: await make(lab, 'CRDT', { visibility: 'V' }) },
    ])
    await end(lab, fileId, id)
    await new ShareSweep(lab.shareDeps).run()
    expect((await sharesOf(lab, fileId)).map(({ subjectId }: { subjectId: string }) => subjectId)).toContain(
      caraTag,
    )
  })

  const expiry = async (lab: FilesLab, fileId: string) =>
    Object.fromEntries(
      (await sharesOf(lab, fileId)).map(({ subjectId, expiresAt }: Record<string, string>) => [
        subjectId,
        expiresAt,
      ]),
    )

  test('ends no later than what it rests on, when that is given for a shorter time', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const fileId = await make(lab, 'CRDT', { parentId: box })
    await share(lab, box, [bobTag, 'W'])
    await share(lab, fileId, [caraTag, 'W'], { as: asBob })
    await share(lab, fileId, [dinaTag, 'W'], { as: asCara })
    await share(lab, fileId, ['x' as IdTag, 'W', { subjectType: 'L' }], { as: asBob })
    const expiresAt = inAMinute(lab)
    await share(lab, box, [bobTag, 'W', { expiresAt }])
    expect(await expiry(lab, fileId)).toEqual({ [caraTag]: expiresAt, [dinaTag]: expiresAt, x: expiresAt })
    const references = lab.db.reader(alice.tenantId).tables<{ refs: { expires_at: number } }>()
    expect(await references.selectFrom('refs').select('expires_at').execute()).toEqual([
      { expires_at: Date.parse(expiresAt) / 1000 },
    ])
    lab.clock.advance(60_000)
    for (const as of [asCara, asDina]) expect(await canRead(lab, fileId, { as })).toBe(false)
  })

  test('ends no later than the way that is left when its file is moved', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const fileId = await make(lab, 'CRDT', { parentId: box })
    await share(lab, box, [bobTag, 'W'])
    await share(lab, fileId, [caraTag, 'W'], { as: asBob })
    await share(lab, fileId, [dinaTag, 'W'], { as: asCara })
    const expiresAt = inAMinute(lab)
    await share(lab, fileId, [bobTag, 'A', { expiresAt }])
    await lab.send('PATCH', `/api/files/${fileId}`, { as: owner, json: { parentId: null } })
    await new ShareSweep(lab.shareDeps).run()
    expect(await expiry(lab, fileId)).toEqual({
      [bobTag]: expiresAt,
      [caraTag]: expiresAt,
      [dinaTag]: expiresAt,
    })
    lab.clock.advance(60_000)
    for (const as of [asBob, asCara, asDina]) expect(await canRead(lab, fileId, { as })).toBe(false)
  })

  test('rests on the longest way, and keeps its time when another is shortened', async () => {
    const lab = await openLab()
    const box = await make(lab, 'FLDR')
    const fileId = await make(lab, 'CRDT', { parentId: box })
    await share(lab, fileId, [bobTag, 'W'])
    await share(lab, fileId, [caraTag, 'W'], { as: asBob })
    await share(lab, box, [bobTag, 'W'])
    await share(lab, fileId, [bobTag, 'W', { expiresAt: inAMinute(lab) }])
    expect(await expiry(lab, fileId)).toMatchObject({ [caraTag]: null })
  })

  test('does not found by way of others what it rests on itself', async () => {
    const lab = await openLab()
    const [one, two] = [await make(lab), await make(lab)]
    const toReaders = (subjectId: string) => ({ subjectType: 'F', subjectId })
    // Who reads the one writes the other.
    await share(lab, two, [bobTag, 'W', toReaders(one)])
    await share(lab, one, [bobTag, 'W', toReaders(two)])
    const { id } = (await share(lab, one, [bobTag, 'R'])).json.data
    await share(lab, two, [caraTag, 'W'], { as: asBob })
    // All that she has of it is by what Bob has.
    expect(failureOf(await share(lab, one, [bobTag, 'W'], { as: asCara }))).toBe('403 E-AUTH-FORBIDDEN')
    await end(lab, one, id)
    for (const as of [asBob, asCara]) expect(await canRead(lab, two, { as })).toBe(false)
  })

  describe('in more than one portion', () => {
    const people = Array.from({ length: 60 }, (_, index) => `p${index}.example` as IdTag)
    const last = people.at(-1) as IdTag
    /** Bob has given a file to all of them. */
    async function givenToMany(lab: FilesLab) {
      const box = await make(lab, 'FLDR')
      const fileId = (await make(lab, 'CRDT', { parentId: box })) as FileId
      const { id } = (await share(lab, box, [bobTag, 'W'])).json.data
      const given = { fileId, subjectType: 'U', permission: 'W', createdBy: bobTag, createdAt: 1 } as const
      const founded = { expiresAt: undefined, isDerived: true, refHash: undefined, baseIds: [id] } as const
      await lab.db.transact(alice.tenantId, async (tx) => {
        for (const subjectId of people) await putShare(tx, { ...given, ...founded, subjectId })
      })
      return { box, fileId, id }
    }

    test('counts for nothing from the moment on that what it rests on ends, and then goes', async () => {
      const lab = await openLab()
      const { box, fileId, id } = await givenToMany(lab)
      const as = identity(last, alice)
      expect(await canRead(lab, fileId, { as })).toBe(true)
      await end(lab, box, id)
      expect(await canRead(lab, fileId, { as })).toBe(false)
      expect(await sharesOf(lab, fileId)).toEqual([])
      await lab.settle()
      expect(await listSharesOfFiles(lab.db.reader(alice.tenantId), [fileId])).toEqual([])
      expect(new Set(lab.notices.map(({ audienceTag }) => audienceTag))).toEqual(new Set([bobTag, ...people]))
    })

    test('counts again where it is founded by another way', async () => {
      const lab = await openLab()
      const { box, fileId, id } = await givenToMany(lab)
      const expiresAt = inAMinute(lab)
      await share(lab, fileId, [bobTag, 'W', { expiresAt }])
      await end(lab, box, id)
      await lab.settle()
      expect(await expiry(lab, fileId)).toEqual(
        Object.fromEntries([bobTag, ...people].map((tag) => [tag, expiresAt])),
      )
    })
  })

  test('counts again by the sweep where no job reviewed it', async () => {
    const lab = await openLab()
    const { fileId } = await given(lab)
    await doubtWhatBobGave(lab, fileId)
    expect(await canRead(lab, fileId, { as: asCara })).toBe(false)
    expect(Object.keys(await expiry(lab, fileId))).toEqual([bobTag])
    await new ShareSweep(lab.shareDeps).run()
    expect(await canRead(lab, fileId, { as: asCara })).toBe(true)
  })

  test('does not count again unfounded when another narrows it', async () => {
    const lab = await openLab()
    const { fileId } = await given(lab)
    await share(lab, fileId, [dinaTag, 'W'])
    await doubtWhatBobGave(lab, fileId)
    expect((await share(lab, fileId, [caraTag, 'R'], { as: asDina })).json.data.createdBy).toBe(dinaTag)
  })

  async function doubtWhatBobGave(lab: FilesLab, fileId: string) {
    await lab.db.transact(alice.tenantId, async (tx) => {
      const shares = await listSharesOfFiles(tx, [fileId as FileId])
      const ofBob = shares.filter(({ createdBy }) => createdBy === bobTag)
      await doubtShares(
        tx,
        ofBob.map(({ shareId }) => shareId),
      )
    })
  }
})
