import { type FileId, type SocketClose, socketCloses } from '@kith/protocol'
import { afterEach, expect, test } from 'vitest'
import { dropReference, type HeldCredential } from '#features/accounts/index.ts'
import { eachDialect } from '#harness/each-dialect.ts'
import { alice, aliceTag, bobTag, type FilesLab, filesLab, identity } from '#harness/files-lab.ts'
import { startHttpSite } from '#harness/http-site.ts'
import { SocketClient } from '#harness/socket-client.ts'
import { type Caller, guest } from '#infra/caller/index.ts'
import { createMemoryRateLimits, defaultRateLimits } from '#infra/http/index.ts'
import { openSockets } from '#infra/ws/index.ts'
import { Failure } from '#lib/failure.ts'
import { addSharedFile } from '../copies/shared-file.ts'
import { AccessLook } from './find-live-access.ts'
import type { FileVisit, LiveFile } from './live-file.ts'
import { LiveFiles } from './live-files.ts'

const owner = identity(aliceTag, alice)
const asBob = identity(bobTag, alice)
const unknownDocument = `f1~${'A'.repeat(43)}`

eachDialect('Files that sockets have open', (open) => {
  const openLab = filesLab(open)
  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })

  /** A path on which nothing is spoken, and the credentials of those who come. */
  async function openLive(lab: FilesLab) {
    const { db, clock } = lab
    const callers = new Map<string, Caller>()
    let isSuspended = false
    const events: string[] = []
    /** What happens during the next looks at credentials. */
    const meanwhile: (() => void)[] = []
    const live = new LiveFiles({
      db,
      clock,
      logger: { error: (fields) => expect(fields).toBeUndefined() },
      findTenant: async () => (isSuspended ? { suspendedAt: 1 } : {}),
      emit: async (_, event) => void events.push(`${event.kind} ${event.fileId}`),
      noteRead: (read) => lab.reads.noteRead(read),
      async recall({ credential }) {
        meanwhile.shift()?.()
        const caller = callers.get(credential.sid ?? '')
        if (!caller || caller.kind === 'guest') throw new Failure('E-AUTH-UNAUTH')
        return caller
      },
    })
    const visits: FileVisit[] = []
    const files: LiveFile[] = []
    let decided = Promise.withResolvers<void>()
    const rateLimits = createMemoryRateLimits(clock, defaultRateLimits)
    const logger = {
      debug: () => undefined,
      warn: () => undefined,
      error: (fields: object) => expect(fields).toBeUndefined(),
    }
    const hooks = {
      findTenant: async () => alice,
      async authenticate({ bearer }: { bearer: string }) {
        const caller = callers.get(bearer)
        if (!caller) throw new Failure('E-AUTH-UNAUTH')
        const credential = { tenant: alice, credential: { sid: bearer } as HeldCredential['credential'] }
        return { caller, credential }
      },
      listEnded: async () => new Set<HeldCredential>(),
      listEndedTenants: async () => new Set<never>(),
    }
    const contract = {
      name: 'openTest',
      path: '/ws/test/{fileTp}/{fileId}',
      summary: 'A file that is open',
      auth: 'optional',
      scope: 'read:files',
      guests: true,
      frames: 'text',
      messagesPerMinute: 1000,
    } as const
    const sockets = openSockets<HeldCredential>({
      routes: [
        {
          contract,
          async open(visit) {
            const file = await live
              .open(visit, visit.params.fileTp as 'CRDT')
              .finally(() => decided.resolve())
            visits.push(visit)
            files.push(file)
            visit.socket.send('open')
            return { receive: () => file.noteWritten(), gone: () => file.close() }
          },
          review: (opened) => live.review(opened),
        },
      ],
      ...{ hooks, rateLimits, clock, logger },
    })
    const site = await startHttpSite([], { hooks, rawRoutes: sockets.rawRoutes, rateLimits, clock, logger })
    closers.push(async () => {
      await sockets.stop()
      await live.close()
      await site.close()
    })
    const connect = (caller: Caller, fileId: string, { fileTp = 'CRDT', query = '' } = {}) => {
      const bearer = `bearer-${callers.size}`
      if (caller !== guest) callers.set(bearer, caller)
      const token = caller === guest ? '' : `&token=${bearer}`
      const path = `/ws/test/${fileTp}/${encodeURIComponent(fileId)}?${query}${token}`
      return SocketClient.connect(site.port, alice.idTag, path)
    }
    return {
      ...{ live, callers, events, visits, files, meanwhile },
      /** A socket that is let in, and what it has open. */
      async enter(...asked: Parameters<typeof connect>) {
        const client = await connect(...asked)
        await client.until(1)
        return { client, file: files.at(-1) as LiveFile, visit: visits.at(-1) as FileVisit }
      },
      /** Why a socket is not let in. */
      async refuse(...asked: Parameters<typeof connect>): Promise<string> {
        decided = Promise.withResolvers<void>()
        const client = await connect(...asked)
        await decided.promise
        // What a client is to blame for is told after a second.
        clock.advance(1000)
        const { code, reason } = await client.closed
        return `${code} ${reason}`
      },
      suspend() {
        isSuspended = true
      },
      async review(): Promise<SocketClose[]> {
        return [...(await live.review(visits)).values()]
      },
    }
  }

  async function make(lab: FilesLab, body: object = {}): Promise<string> {
    const made = await lab.send('POST', '/api/files', { as: owner, json: { fileTp: 'CRDT', ...body } })
    return made.json.data.fileId
  }
  const told = (why: SocketClose) => `${socketCloses[why].code} ${socketCloses[why].reason}`

  test('are let read and written by whoever may', async () => {
    const lab = await openLab()
    const { enter } = await openLive(lab)
    const fileId = await make(lab, { visibility: 'P' })
    const { file } = await enter(owner, fileId)
    expect([file.tenantId, file.fileId, file.idTag, file.canWrite]).toEqual([1, fileId, aliceTag, true])
    const reading = await enter(owner, fileId, { query: 'access=read' })
    expect(reading.file.canWrite).toBe(false)
    const narrow = await enter(identity(aliceTag, alice, { scope: 'read:files' }), fileId)
    expect(narrow.file.canWrite).toBe(false)
    const stranger = await enter(asBob, fileId)
    expect([stranger.file.idTag, stranger.file.canWrite]).toEqual([bobTag, false])
    const anybody = await enter(guest, fileId)
    expect([anybody.file.idTag, anybody.file.canWrite]).toEqual([undefined, false])
  })

  test('are refused in the same way whether they are there or not', async () => {
    const lab = await openLab()
    const { refuse } = await openLive(lab)
    const fileId = await make(lab)
    for (const asked of [fileId, unknownDocument, 'x']) {
      expect(await refuse(guest, asked)).toBe(told('unauthenticated'))
      expect(await refuse(asBob, asked)).toBe(told('notFound'))
    }
  })

  test('are not opened as what they are not, in the trash, or where only a copy is', async () => {
    const lab = await openLab()
    const { enter, refuse } = await openLive(lab)
    const document = await make(lab)
    const folder = await make(lab, { fileTp: 'FLDR' })
    const { fileId: blob } = (await lab.upload('a', 'x')).json.data
    expect(await refuse(owner, document, { fileTp: 'RTDB' })).toBe(told('wrongType'))
    for (const fileId of [folder, blob]) expect(await refuse(owner, fileId)).toBe(told('wrongType'))
    await enter(owner, await make(lab, { fileTp: 'RTDB' }), { fileTp: 'RTDB' })
    await lab.send('DELETE', `/api/files/${document}`, { as: owner })
    expect(await refuse(owner, document)).toBe(told('notFound'))
    const shared = { fileId: unknownDocument as FileId, ownerTag: bobTag, fileName: 'Plan' }
    const copy = { ...shared, contentType: undefined, expiresAt: undefined }
    await lab.db.transact(alice.tenantId, (tx) => addSharedFile(lab.shareDeps, tx, copy))
    expect(await refuse(owner, unknownDocument)).toBe(told('notFound'))
  })

  test('are refused to whoever insists on writing and may not', async () => {
    const lab = await openLab()
    const { enter, refuse } = await openLive(lab)
    const fileId = await make(lab, { visibility: 'P' })
    const query = 'access=write'
    expect((await enter(owner, fileId, { query })).file.canWrite).toBe(true)
    for (const caller of [asBob, guest, identity(aliceTag, alice, { scope: 'read:files' })])
      expect(await refuse(caller, fileId, { query })).toBe(told('forbidden'))
  })

  test('are open to holders of a reference as long as it gives something', async () => {
    const lab = await openLab()
    const { enter, refuse, review } = await openLive(lab)
    const fileId = await make(lab)
    const reading = await enter(await lab.makeHolder(fileId), fileId)
    const writer = await lab.makeHolder(fileId, 'write')
    const writing = await enter(writer, fileId)
    expect([reading.file.idTag, reading.file.canWrite, writing.file.canWrite]).toEqual([
      undefined,
      false,
      true,
    ])
    expect(await refuse(writer, await make(lab))).toBe(told('notFound'))
    expect(await review()).toEqual([])
    if (writer.kind !== 'reference') throw new TypeError('a holder has a reference')
    await lab.db.transact(alice.tenantId, (tx) => dropReference(lab.shareDeps, tx, writer.refId))
    expect(await review()).toEqual(['forbidden'])
  })

  const share = async (lab: FilesLab, fileId: string, permission: string): Promise<string> => {
    const json = { subjectType: 'U', subjectId: bobTag, permission }
    const answer = await lab.send('POST', `/api/files/${fileId}/shares`, { as: owner, json })
    return answer.json.data.id
  }
  type Live = Awaited<ReturnType<typeof openLive>>
  const folder = (lab: FilesLab) => make(lab, { fileTp: 'FLDR' })
  const trash = (lab: FilesLab, fileId: string, query = '') =>
    lab.send('DELETE', `/api/files/${fileId}${query}`, { as: owner })
  const endings: [
    string,
    SocketClose,
    (lab: FilesLab, at: { fileId: string; box: string } & Live) => unknown,
  ][] = [
    ['the trash', 'notFound', (lab, { fileId }) => trash(lab, fileId)],
    ['the trash with a folder', 'notFound', (lab, { box }) => trash(lab, box)],
    [
      'deletion for good',
      'notFound',
      async (lab, { fileId }) => {
        await trash(lab, fileId)
        await trash(lab, fileId, '?permanent=true')
      },
    ],
    ['a block', 'forbidden', (lab) => lab.relate(alice, bobTag, { isBlocked: true, at: 1 })],
    ['the end of the credential', 'unauthenticated', (_, { callers }) => callers.clear()],
    [
      'a narrower token',
      'forbidden',
      (_, { callers }) => callers.set('bearer-0', identity(bobTag, alice, { scope: 'read:actions' })),
    ],
    [
      'the end of the share',
      'forbidden',
      async (lab, { fileId }) => {
        const { json } = await lab.send('GET', `/api/files/${fileId}/shares`, { as: owner })
        for (const { id } of json.data)
          await lab.send('DELETE', `/api/files/${fileId}/shares/${id}`, { as: owner })
      },
    ],
  ]
  test.each(endings)('are closed after %s (%s)', async (_, why, end) => {
    const lab = await openLab()
    const live = await openLive(lab)
    const box = await folder(lab)
    const fileId = await make(lab, { parentId: box })
    await share(lab, fileId, 'W')
    const other = await make(lab, { visibility: 'P' })
    const { file } = await live.enter(asBob, fileId)
    const { visit } = await live.enter(guest, other)
    expect([file.canWrite, await live.review()]).toEqual([true, []])
    await end(lab, { ...live, fileId, box })
    expect(await live.review()).toEqual([why])
    expect(await live.live.review([visit])).toEqual(new Map())
  })

  test('are closed to guests of a tenant that is suspended', async () => {
    const lab = await openLab()
    const { enter, review, suspend } = await openLive(lab)
    await enter(guest, await make(lab, { visibility: 'P' }))
    expect(await review()).toEqual([])
    suspend()
    expect(await review()).toEqual(['notFound'])
  })

  test('stay open to whoever may only read from now on', async () => {
    const lab = await openLab()
    const { enter, review, callers } = await openLive(lab)
    const fileId = await make(lab)
    const shareId = await share(lab, fileId, 'W')
    const { file } = await enter(asBob, fileId)
    const own = await enter(owner, fileId)
    const asked = await enter(owner, fileId, { query: 'access=read' })
    await lab.send('DELETE', `/api/files/${fileId}/shares/${shareId}`, { as: owner })
    await share(lab, fileId, 'R')
    expect(await review()).toEqual([])
    expect([file.canWrite, own.file.canWrite, asked.file.canWrite]).toEqual([false, true, false])
    callers.set('bearer-1', identity(aliceTag, alice, { scope: 'read:files' }))
    expect(await review()).toEqual([])
    expect(own.file.canWrite).toBe(false)
    callers.set('bearer-1', owner)
    await review()
    expect([own.file.canWrite, asked.file.canWrite]).toEqual([true, false])
  })

  test('go on with another credential only once it was found good for the file', async () => {
    const lab = await openLab()
    const { enter, review, live, callers, files } = await openLive(lab)
    const fileId = await make(lab)
    const { visit } = await enter(owner, fileId)
    const before = visit.proof
    callers.set('stranger', asBob)
    callers.set('reader', identity(aliceTag, alice, { scope: 'read:files' }))
    const refused = live.renew(visit, await visit.authenticate('stranger'))
    expect(visit.proof).toBe(before)
    expect([await refused, visit.proof, files[0]?.canWrite]).toEqual([false, before, true])
    const reader = await visit.authenticate('reader')
    expect([await live.renew(visit, reader), visit.proof, files[0]?.canWrite]).toEqual([true, reader, false])
    expect(await review()).toEqual([])
  })

  test('are not closed for a credential that was renewed meanwhile', async () => {
    const lab = await openLab()
    const { enter, live, callers, meanwhile } = await openLive(lab)
    const fileId = await make(lab)
    const { visit } = await enter(owner, fileId)
    callers.delete('bearer-0')
    meanwhile.push(() => visit.renew({ ...visit.proof }))
    expect(await live.review([visit])).toEqual(new Map())
    expect([...(await live.review([visit])).values()]).toEqual(['unauthenticated'])
  })

  test('are closed also when another one cannot be looked at', async () => {
    const lab = await openLab()
    const { enter, live, visits, callers, meanwhile } = await openLive(lab)
    const fileId = await make(lab)
    await enter(owner, fileId)
    const { visit } = await enter(owner, fileId)
    const fail = () => {
      throw new Error('the database is away')
    }
    meanwhile.push(fail)
    await expect(live.review(visits)).rejects.toThrow('away')
    callers.delete('bearer-1')
    meanwhile.push(fail)
    expect(await live.review(visits)).toEqual(new Map([[visit, 'unauthenticated']]))
  })

  test('are looked at once for all sockets of a caller', async () => {
    const lab = await openLab()
    const fileId = (await make(lab)) as FileId
    const look = new AccessLook(lab)
    const first = look.access(alice, identity(aliceTag, alice, { sessionId: 'one' }), fileId)
    expect(look.access(alice, identity(aliceTag, alice, { sessionId: 'two' }), fileId)).toBe(first)
    const others = [
      look.access(alice, asBob, fileId),
      look.access(alice, owner, unknownDocument as FileId),
      look.access(alice, identity(aliceTag, alice, { scope: 'read:files' }), fileId),
    ]
    expect(others).not.toContain(first)
    expect([await first, ...(await Promise.all(others))]).toEqual([3, 'withdrawn', 'gone', 1])
  })

  test('are noted as read when they are opened, and once a minute', async () => {
    const lab = await openLab()
    const { enter, review } = await openLive(lab)
    const fileId = await make(lab)
    const readAt = async () => {
      await lab.reads.flush()
      const { json } = await lab.send('GET', '/api/collections/RCNT', { as: owner })
      return json.data.map(({ addedAt }: { addedAt: string }) => addedAt)
    }
    await enter(owner, fileId)
    const opened = await readAt()
    expect(opened).toHaveLength(1)
    lab.clock.advance(59_000)
    await review()
    expect(await readAt()).toEqual(opened)
    lab.clock.advance(1_000)
    await review()
    expect(await readAt()).toEqual([new Date(lab.clock.now()).toISOString()])
  })

  test('are noted as changed until they are closed', async () => {
    const lab = await openLab()
    const { enter, live, events } = await openLive(lab)
    const fileId = await make(lab)
    const { file } = await enter(owner, fileId)
    file.noteWritten()
    await live.settled()
    expect(events).toEqual([`file.updated ${fileId}`])
    file.noteWritten()
    file.close()
    await live.settled()
    expect([events.length, file.canWrite]).toEqual([2, false])
    file.noteWritten()
    file.close()
    await live.settled()
    expect(events).toHaveLength(2)
  })

  test('are closed by the server within five seconds', async () => {
    const lab = await openLab()
    const { enter } = await openLive(lab)
    const fileId = await make(lab)
    await share(lab, fileId, 'W')
    const { client } = await enter(asBob, fileId)
    await lab.relate(alice, bobTag, { isBlocked: true, at: 1 })
    for (let second = 0; second < 5; second += 1) lab.clock.advance(1000)
    const { code, reason } = await client.closed
    expect(`${code} ${reason}`).toBe(told('forbidden'))
  })
})
