import type { IdTag } from '@kith/protocol'
import { expect, test } from 'vitest'
import { eachDialect, onSqlite } from '#harness/each-dialect.ts'
import {
  alice,
  aliceTag,
  bobTag,
  club,
  type FilesLab,
  filesLab,
  identity,
  type Sent,
} from '#harness/files-lab.ts'
import { shareActions } from './share-actions.ts'
import { ShareSweep } from './sweep-shares.ts'

const caraTag = 'cara.example' as IdTag
const owner = identity(aliceTag, alice)
const asBob = identity(bobTag, alice)
const asCara = identity(caraTag, alice)
const failureOf = ({ status, json }: { status: number; json: { error?: { code: string } } }) =>
  `${status} ${json.error?.code}`

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

onSqlite('Whoever has a file by a share', (open) => {
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
    const dinaTag = 'dina.example' as IdTag
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
})
