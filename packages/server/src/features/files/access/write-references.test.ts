import { expect, test } from 'vitest'
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
import type { Caller } from '#infra/caller/index.ts'

const owner = identity(aliceTag, alice)
const forbidden = '403 E-AUTH-FORBIDDEN'

async function make(lab: FilesLab, body: object = {}, sent: Sent = {}): Promise<string> {
  const json = { fileTp: 'FLDR', ...body }
  return (await lab.send('POST', '/api/files', { as: owner, json, ...sent })).json.data.fileId
}

/** Every way to put something into a folder. */
function puttings(
  lab: FilesLab,
  as: Caller,
  parentId: string | undefined,
  more: Record<string, string> = {},
) {
  const encoded = Object.entries({ filename: 'a', ...(parentId && { parentId }), ...more })
  const query = new URLSearchParams({ ...(parentId && { parentId }), ...more })
  const headers = {
    'tus-resumable': '1.0.0',
    'upload-length': '0',
    'upload-metadata': encoded.map(([name, value]) => `${name} ${btoa(value)}`).join(','),
  }
  const json = { fileTp: 'CRDT', ...(parentId && { parentId }), ...more }
  return [
    lab.upload('a', 'hello', { as, query: `?${query}` }),
    lab.send('POST', '/api/uploads', { as, headers }),
    lab.send('POST', '/api/files', { as, json }),
  ]
}

const holders: [string, (lab: FilesLab, fileId: string, level: 'read' | 'write') => Promise<Caller>][] = [
  ['the guest of a reference', (lab, fileId, level) => lab.makeHolder(fileId, level)],
  [
    'a token for a single file',
    async (_, fileId, level) => identity(aliceTag, alice, { scope: `file:${fileId}:${level}` }),
  ],
]

eachDialect('Who may write one folder only', (open) => {
  const openLab = filesLab(open)

  test.each(holders)('%s: puts files there, which are its owner’s', async (_, hold) => {
    const lab = await openLab()
    const box = await make(lab)
    const inner = await make(lab, { parentId: box })
    const as = await hold(lab, box, 'write')
    for (const folder of [box, inner])
      for (const answer of await Promise.all(puttings(lab, as, folder))) {
        expect(answer.status).toBe(201)
        const { fileId } = answer.json.data
        const shown = (await lab.send('GET', `/api/files/${fileId}/metadata`, { as: owner })).json.data
        expect(shown).toMatchObject({ parentId: folder, owner: { idTag: aliceTag } })
      }
    expect(await lab.inconsistencies()).toEqual([])
  })

  test.each(holders)('%s: takes files away and gives them back', async (_, hold) => {
    const lab = await openLab()
    const box = await make(lab)
    const fileId = await make(lab, { parentId: box })
    const as = await hold(lab, box, 'write')
    const path = `/api/files/${fileId}`
    expect((await lab.send('DELETE', path, { as })).status).toBe(200)
    expect((await lab.send('POST', `${path}/restore`, { as, json: { parentId: box } })).status).toBe(200)
    expect((await lab.send('DELETE', path, { as })).status).toBe(200)
    expect((await lab.send('DELETE', `${path}?permanent=true`, { as })).status).toBe(200)
    expect((await lab.send('GET', `${path}/metadata`, { as })).status).toBe(404)
    // What a token does is done by its owner.
    const left = await lab.send('GET', `${path}/metadata`, { as: owner })
    expect(left.json.data?.x).toEqual(
      as.kind === 'reference' ? { deletedBy: { linkOf: aliceTag } } : undefined,
    )
  })

  test.each(holders)('%s: does nothing elsewhere', async (_, hold) => {
    const lab = await openLab()
    const box = await make(lab)
    const other = await make(lab)
    const [reading, writing] = [await hold(lab, box, 'read'), await hold(lab, box, 'write')]
    for (const answer of await Promise.all(puttings(lab, reading, box)))
      expect(failureOf(answer)).toBe(forbidden)
    for (const answer of await Promise.all(puttings(lab, writing, undefined)))
      expect(failureOf(answer)).toBe(forbidden)
    for (const answer of await Promise.all(puttings(lab, writing, other)))
      expect(failureOf(answer)).toBe('404 E-FILE-NOTFOUND')
    expect(failureOf(await lab.send('DELETE', `/api/files/${other}`, { as: writing }))).toBe(
      '404 E-FILE-NOTFOUND',
    )
    expect(failureOf(await lab.send('DELETE', `/api/files/${box}`, { as: reading }))).toBe(forbidden)
    const rename = { json: { fileName: 'x' } }
    expect(failureOf(await lab.send('PATCH', `/api/files/${other}`, { as: writing, ...rename }))).toBe(
      '404 E-FILE-NOTFOUND',
    )
    expect(failureOf(await lab.send('PATCH', `/api/files/${box}`, { as: reading, ...rename }))).toBe(
      forbidden,
    )
    await lab.send('DELETE', `/api/files/${other}`, { as: owner })
    expect(failureOf(await lab.send('POST', `/api/files/${other}/restore`, { as: writing }))).toBe(
      '404 E-FILE-NOTFOUND',
    )
    for (const [method, path] of [
      ['PUT', `/api/files/${box}/tag/x`],
      ['DELETE', '/api/trash'],
      ['GET', `/api/files/${box}/shares`],
      ['POST', `/api/files/${box}/shares`],
    ] as const)
      expect([path, failureOf(await lab.send(method, path, { as: writing }))]).toEqual([path, forbidden])
  })

  test('the guest of a reference: publishes nothing, and sees the uploads of nobody else', async () => {
    const lab = await openLab()
    const box = await make(lab)
    const guest = await lab.makeHolder(box, 'write')
    const share = { subjectType: 'U', subjectId: bobTag, permission: 'W' }
    await lab.send('POST', `/api/files/${box}/shares`, { as: owner, json: share })
    for (const as of [guest, identity(bobTag, alice)])
      for (const answer of await Promise.all(puttings(lab, as, box, { visibility: 'P' })))
        expect(failureOf(answer)).toBe(forbidden)
    const headers = {
      'tus-resumable': '1.0.0',
      'upload-length': '5',
      'upload-metadata': `filename ${btoa('a')},parentId ${btoa(box)}`,
    }
    const path = (await lab.send('POST', '/api/uploads', { as: guest, headers })).headers.location ?? ''
    const look = async (as: Caller) => (await lab.send('HEAD', path, { as, headers })).status
    const others = [owner, identity(bobTag, alice), await lab.makeHolder(box, 'write')]
    expect(await Promise.all([guest, ...others].map(look))).toEqual([200, 404, 404, 404])
  })

  test('the guest of a reference: reads nothing while its maker may only read', async () => {
    const lab = await openLab()
    const box = await make(lab)
    const give = (permission: string, more: object = {}) =>
      lab.send('POST', `/api/files/${box}/shares`, {
        as: owner,
        json: { subjectType: 'U', subjectId: bobTag, permission, ...more },
      })
    await give('W', { expiresAt: lab.clock.now() / 1000 + 60 })
    const as = await lab.makeHolder(box, 'read', { by: bobTag })
    const read = async () => (await lab.send('GET', `/api/files/${box}/metadata`, { as })).status
    expect(await read()).toBe(200)
    lab.clock.advance(60_000)
    expect(await read()).toBe(404)
    await give('R')
    expect(await read()).toBe(404)
    await give('W')
    expect(await read()).toBe(200)
  })

  test('the guest of a reference: has no more than who made it has by now', async () => {
    const lab = await openLab()
    const maker = identity(bobTag, club, { role: 'contributor' })
    await lab.relate(club, bobTag, { role: 'contributor', at: 1 })
    const box = await make(lab, {}, { at: club, as: maker })
    const as = await lab.makeHolder(box, 'write', { by: bobTag, at: club })
    const json = { fileTp: 'CRDT', parentId: box }
    expect((await lab.send('POST', '/api/files', { at: club, as, json })).status).toBe(201)
    await lab.relate(club, bobTag, { role: 'follower', at: 2 })
    expect(failureOf(await lab.send('POST', '/api/files', { at: club, as, json }))).toBe(
      '404 E-FILE-NOTFOUND',
    )
  })
})
