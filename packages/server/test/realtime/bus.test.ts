import {
  type ActionId,
  acceptAction,
  changeFile,
  changePassword,
  createAction,
  createApiKey,
  createFile,
  createReference,
  createShare,
  deleteAction,
  deleteApiKey,
  deleteFile,
  deleteShare,
  dismissAction,
  type FileId,
  getAccessToken,
  getAction,
  getProxyToken,
  logout,
  putSetting,
  revokeSession,
  setReaction,
  updateAdminProfile,
  updateMe,
} from '@kith/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BusDevice } from '#harness/bus-client.ts'
import { TestServer, testPassword } from '#harness/test-server.ts'

const hello = { type: 'POST', content: { text: 'Hello' }, visibility: 'F' } as const

describe('the bus', () => {
  let server: TestServer
  let people = 0
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(() => server.stop())

  /** Somebody new, with a way to connect. */
  async function person(options: { type?: 'person' | 'community' } = {}) {
    people += 1
    const idTag = `p${people}.localhost`
    const tenant = await server.createTenant(idTag, options)
    const client = await server.as(idTag)
    const token = async () => (await client.call(getAccessToken, {})).data.token
    return { ...tenant, client, token, connect: async () => BusDevice.connect(server, idTag, await token()) }
  }

  /** The code with which the server ends a device, a while after now. */
  async function codeOf(device: BusDevice, waitMs = 0): Promise<number> {
    if (waitMs > 0) {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      server.clock.advance(waitMs)
    }
    return (await device.client.closed).code
  }

  describe('lets in', () => {
    test('nobody without a token, with a bad one, or with one of another tenant (1008)', async () => {
      const [one, two] = [await person(), await person()]
      for (const query of ['', '?token=', '?token=nonsense', `?token=${await two.token()}`]) {
        const device = await BusDevice.open(server, one.idTag, query)
        expect(await codeOf(device, 1000)).toBe(1008)
      }
    })

    test('no guest of a reference and no token for single files (4403)', async () => {
      const { idTag, client } = await person()
      const { data: file } = await client.call(createFile, {
        body: { fileTp: 'CRDT' },
      })
      const { data: ref } = await client.call(createReference, {
        body: { type: 'share.file', resourceId: file.fileId },
      })
      const guest = await server.client(idTag).call(getAccessToken, { query: { ref: ref.refId } })
      const narrow = await client.call(getAccessToken, { query: { scope: `file:${file.fileId}:read` } })
      for (const { data } of [guest, narrow])
        expect(await codeOf(await BusDevice.open(server, idTag, `?token=${data.token}`), 1000)).toBe(4403)
    })

    test('whoever shows the token in the header', async () => {
      const { idTag, token } = await person()
      const headers = { authorization: `Bearer ${await token()}` }
      await using device = await BusDevice.open(server, idTag, '', { headers })
      expect(await device.ask('ping')).toEqual({ status: 'pong' })
    })
  })

  describe('answers', () => {
    test('each command once, with the id as it was sent, and nothing else', async () => {
      const { connect } = await person()
      await using device = await connect()
      const { client } = device
      const before = client.received.length
      client.send({ id: 7, cmd: 'ping', data: {} })
      client.send({ id: 'seven', cmd: 'subscribe' })
      client.send({ cmd: 'presence', data: { state: 'idle' } })
      client.send({ type: 'subscribe', path: '/' })
      await client.until(before + 4)
      expect(client.received.slice(before)).toEqual([
        '{"id":7,"cmd":"ack","data":{"status":"pong"}}',
        '{"id":"seven","cmd":"ack","data":{"status":"ok","seq":0}}',
        '{"cmd":"ack","data":{"status":"ok"}}',
        '{"cmd":"ack","data":{"status":"ok","seq":0}}',
      ])
    })

    test.each([
      [{ cmd: 'dance' }],
      [{ cmd: 'constructor' }],
      [{ data: {} }],
      [{ cmd: 'ping', data: 'text' }],
      [{ cmd: 'subscribe', data: { since: -1 } }],
      [{ cmd: 'subscribe', data: { since: 'yesterday' } }],
      [{ cmd: 'presence', data: { state: 'asleep' } }],
      [{ cmd: 'auth', data: {} }],
    ])('%j with an error', async (command) => {
      const { connect } = await person()
      await using device = await connect()
      const before = device.client.received.length
      device.client.send({ id: 1, ...command })
      await device.client.until(before + 1)
      expect(device.client.json[before]).toEqual({
        id: 1,
        cmd: 'ack',
        data: { status: 'error', message: expect.any(String) },
      })
    })

    test('a number that is too large with an error, where it is a member of the command', async () => {
      const { connect } = await person()
      await using device = await connect()
      const before = device.client.received.length
      device.client.send('{"id":1,"cmd":"subscribe","data":{"since":1e400}}')
      device.client.send('{"id":1e400,"cmd":"ping"}')
      device.client.send('{"id":3,"cmd":"ping","data":{"unknown":1e400}}')
      await device.client.until(before + 3)
      const refused = { cmd: 'ack', data: { status: 'error', message: expect.any(String) } }
      const pong = { id: 3, cmd: 'ack', data: { status: 'pong' } }
      expect(device.client.json.slice(before)).toEqual([{ id: 1, ...refused }, refused, pong])
    })

    test('what is nested deeper than a stack as anything else', async () => {
      const { connect } = await person()
      await using device = await connect()
      const before = device.client.received.length
      const deep = '['.repeat(500_000) + ']'.repeat(500_000)
      device.client.send(`{"id":1,"cmd":"ping","data":{"unknown":${deep}}}`)
      await device.client.until(before + 1)
      expect(device.client.json[before]).toMatchObject({ id: 1, data: { status: 'pong' } })
    })

    test('nothing to what is no JSON object, and ends (1008) after ten of that', async () => {
      const { connect } = await person()
      await using device = await connect()
      for (let at = 0; at < 10; at += 1) device.client.send(at % 2 ? '{nonsense' : '[]')
      expect(await device.ask('ping')).toEqual({ status: 'pong' })
      device.client.send('5')
      expect(await codeOf(device, 1000)).toBe(1008)
    })

    test('to a new token of the same account only', async () => {
      const [one, other] = [await person(), await person()]
      await using device = await one.connect()
      expect(await device.ask('auth', { token: await one.token() })).toEqual({ status: 'ok' })
      for (const token of ['nonsense', await other.token()])
        expect(await device.ask('auth', { token })).toMatchObject({ status: 'error' })
      const key = await one.client.call(createApiKey, { body: { name: 'bus' } })
      expect(await device.ask('auth', { token: key.data.key })).toEqual({ status: 'ok' })
      // From now on the socket rests on the key.
      await one.client.call(deleteApiKey, { params: { keyId: key.data.keyId } })
      expect(await codeOf(device, 1000)).toBe(1008)
    })
  })

  describe('tells of actions', () => {
    test('every device of the author and of the followers, as a read shows it to them', async () => {
      const [author, follower] = [await person(), await person()]
      await server.relate(author.idTag, follower.idTag, { isFollower: true })
      await server.relate(follower.idTag, author.idTag, { isFollowing: true })
      await using phone = await author.connect()
      await using laptop = await author.connect()
      await using theirs = await follower.connect()
      const { data } = await author.client.call(createAction, { body: hello })
      for (const [device, client] of [
        [phone, author.client],
        [laptop, author.client],
        [theirs, follower.client],
      ] as const) {
        const told = await device.told('ACTION')
        const { data: shown } = await client.call(getAction, {
          params: { actionId: data.actionId as ActionId },
        })
        // To read is to view; to be told is not.
        const unseen = { ...shown, stat: { ...shown.stat, views: 0 } }
        expect(told).toEqual([{ id: expect.any(String), cmd: 'ACTION', data: unseen, seq: 1 }])
      }
    })

    test('nobody of a draft, until it is published', async () => {
      const { client, connect } = await person()
      await using device = await connect()
      await client.call(createAction, { body: { ...hello, draft: true } })
      expect(await device.told()).toEqual([])
    })

    test('nobody of whom they block or mute', async () => {
      const [author, muting, visitor] = [await person(), await person(), await person()]
      await server.relate(author.idTag, muting.idTag, { isFollower: true })
      await server.relate(muting.idTag, author.idTag, { isFollowing: true, isMuted: true })
      await using device = await muting.connect()
      const { data } = await visitor.client.call(getProxyToken, {
        query: { target: author.idTag },
      })
      await using visiting = await BusDevice.connect(server, author.idTag, data.token)
      await author.client.call(createAction, { body: { ...hello, visibility: 'V' } })
      expect(await visiting.told('ACTION')).toHaveLength(1)
      await server.block(author.idTag, visitor.idTag)
      await author.client.call(createAction, { body: { ...hello, visibility: 'V' } })
      expect(await visiting.told('ACTION')).toHaveLength(1)
      expect(await device.told()).toEqual([])
    })

    test('visitors of what they may read', async () => {
      const [author, visitor] = [await person(), await person()]
      const { data } = await visitor.client.call(getProxyToken, {
        query: { target: author.idTag },
      })
      await using visiting = await BusDevice.connect(server, author.idTag, data.token)
      for (const visibility of ['F', 'V', 'C', 'P'] as const)
        await author.client.call(createAction, { body: { ...hello, visibility } })
      expect((await visiting.told()).map((told) => told.data.visibility)).toEqual(['V', 'P'])
    })

    test('a token without the scope for them of nothing', async () => {
      const { idTag, client, connect } = await person()
      await using whole = await connect()
      const { data } = await client.call(getAccessToken, { query: { scope: 'read:files' } })
      await using narrow = await BusDevice.connect(server, idTag, data.token)
      await client.call(createAction, { body: hello })
      await client.call(putSetting, { params: { name: 'ui.x' }, body: { value: 1 } })
      expect((await whole.told()).map(({ cmd }) => cmd)).toEqual(['ACTION', 'SETTING'])
      expect(await narrow.told()).toEqual([])
    })

    test('with their status those who issued and got them', async () => {
      const [asking, asked] = [await person(), await person()]
      await using theirs = await asked.connect()
      await using own = await asking.connect()
      const { data } = await asking.client.call(createAction, {
        body: { type: 'CONN', audienceTag: asked.idTag },
      })
      const actionId = data.actionId as ActionId
      expect((await theirs.told('ACTION'))[0]?.data).toMatchObject({ actionId, status: 'C' })
      await asked.client.call(acceptAction, { params: { actionId } })
      expect(await theirs.told('ACTION_STATUS')).toEqual([
        {
          id: expect.any(String),
          cmd: 'ACTION_STATUS',
          data: { actionId, status: 'A' },
          seq: expect.any(Number),
        },
      ])
      await asked.client.call(dismissAction, { params: { actionId } })
      await asking.client.call(deleteAction, { params: { actionId } })
      const last = (await own.told('ACTION_STATUS')).at(-1)
      expect(last?.data).toEqual({ actionId, status: 'D' })
      // Ended within the second in which it was made, which others are told in the next.
      server.clock.advance(1000)
      await expect.poll(async () => (await theirs.told('ACTION_STATUS')).at(-1)?.data.status).toBe('D')
    })

    test('with their end those who hold them, named in them or not', async () => {
      const [author, follower] = [await person(), await person()]
      await server.relate(author.idTag, follower.idTag, { isFollower: true })
      await server.relate(follower.idTag, author.idTag, { isFollowing: true })
      await using device = await follower.connect()
      const { data } = await author.client.call(createAction, { body: { ...hello, visibility: 'F' } })
      const actionId = data.actionId as ActionId
      await expect.poll(async () => (await device.told('ACTION')).length).toBe(1)
      await author.client.call(deleteAction, { params: { actionId } })
      await expect
        .poll(async () => (await device.told('ACTION_STATUS')).map((told) => told.data))
        .toEqual([{ actionId, status: 'D' }])
    })

    test('with their counts the readers, once a second', async () => {
      const [author, reader] = [await person(), await person()]
      await server.relate(author.idTag, reader.idTag, { isFollower: true })
      const { data } = await author.client.call(createAction, { body: { ...hello, visibility: 'P' } })
      const params = { actionId: data.actionId as ActionId }
      await using device = await author.connect()
      for (const type of ['LIKE', 'LOVE', null, 'WOW'] as const)
        await author.client.call(setReaction, { params, body: { type } })
      expect(await device.told('STAT')).toEqual([])
      server.clock.advance(1000)
      const told = await device.told('STAT')
      expect(told).toEqual([
        {
          id: expect.any(String),
          cmd: 'STAT',
          data: {
            actionId: data.actionId,
            stat: expect.objectContaining({ reactions: 1, ownReaction: 'WOW' }),
          },
        },
      ])
    })
  })

  describe('tells of', () => {
    test('a changed profile whoever follows it here', async () => {
      const [known, follower, stranger] = [await person(), await person(), await person()]
      await server.relate(follower.idTag, known.idTag, { isFollowing: true })
      await using own = await known.connect()
      await using theirs = await follower.connect()
      await using others = await stranger.connect()
      await known.client.call(updateMe, { body: { name: 'Renamed' } })
      for (const device of [own, theirs])
        expect((await device.told())[0]).toMatchObject({
          cmd: 'PROFILE',
          data: { idTag: known.idTag, name: 'Renamed' },
        })
      expect(Object.keys((await theirs.told())[0]?.data)).toEqual(['idTag', 'name'])
      expect(await others.told()).toEqual([])
      await (await server.as('home.localhost')).call(updateAdminProfile, {
        params: { idTag: known.idTag },
        body: { name: 'Renamed by another' },
      })
      expect((await theirs.told()).at(-1)?.data).toEqual({ idTag: known.idTag, name: 'Renamed by another' })
    })

    test('files their owner and those they are shared with', async () => {
      const [owner, grantee, stranger] = [await person(), await person(), await person()]
      await using own = await owner.connect()
      await using theirs = await grantee.connect()
      await using others = await stranger.connect()
      const { data: file } = await owner.client.call(createFile, { body: { fileTp: 'CRDT' } })
      const params = { fileId: file.fileId as FileId }
      await owner.client.call(changeFile, { params, body: { fileName: 'Plan' } })
      const { data: share } = await owner.client.call(createShare, {
        params,
        body: { subjectType: 'U', subjectId: grantee.idTag, permission: 'R' },
      })
      await server.settle()
      const [asked] = await theirs.told('ACTION')
      await grantee.client.call(acceptAction, { params: { actionId: asked?.data.actionId } })
      expect((await theirs.told('FILE'))[0]?.data).toEqual({ ...params, status: 'A', event: 'shared' })
      await owner.client.call(deleteShare, { params: { ...params, shareId: String(share.id) } })
      // Ended within the second in which it was made, which others are told in the next.
      server.clock.advance(1000)
      await server.settle()
      expect((await theirs.told('FILE')).at(-1)?.data).toEqual({ ...params, status: 'D', event: 'unshared' })
      // Each is shown as it is found when it is told.
      await own.told()
      await owner.client.call(deleteFile, { params })
      expect((await own.told('FILE')).map(({ data }) => [data.event, data.status])).toEqual([
        ['created', 'A'],
        ['updated', 'A'],
        ['shared', 'A'],
        ['unshared', 'D'],
        ['deleted', 'D'],
      ])
      expect(await others.told()).toEqual([])
    })

    test('a file that is shared its visitors, and nobody else there', async () => {
      const [owner, grantee, stranger] = [await person(), await person(), await person()]
      const visit = async ({ client }: typeof owner) => {
        const { data } = await client.call(getProxyToken, { query: { target: owner.idTag } })
        return BusDevice.connect(server, owner.idTag, data.token)
      }
      await using theirs = await visit(grantee)
      await using others = await visit(stranger)
      const { data: file } = await owner.client.call(createFile, { body: { fileTp: 'RTDB' } })
      const params = { fileId: file.fileId as FileId }
      await owner.client.call(createShare, {
        params,
        body: { subjectType: 'U', subjectId: grantee.idTag, permission: 'R' },
      })
      await owner.client.call(changeFile, { params, body: { fileName: 'Ours' } })
      await theirs.told()
      await owner.client.call(deleteFile, { params })
      const told = await theirs.told('FILE')
      expect(told.map(({ data }) => data.event)).toEqual(['shared', 'updated', 'deleted'])
      expect(await others.told()).toEqual([])
    })

    test('a changed setting the devices of the account', async () => {
      const { client, connect } = await person()
      await using device = await connect()
      await client.call(putSetting, { params: { name: 'ui.theme' }, body: { value: { dark: true } } })
      expect(await device.told()).toEqual([
        { id: expect.any(String), cmd: 'SETTING', data: ['ui.theme', { dark: true }], seq: 1 },
      ])
    })

    test('sign-ins and revocations of sessions the account', async () => {
      const { idTag, client, connect } = await person()
      await using device = await connect()
      const token = await server.signIn(idTag)
      const [signedIn] = await device.told()
      expect(signedIn).toEqual({
        id: expect.any(String),
        cmd: 'SESSION',
        data: { event: 'signed-in', sid: expect.any(String) },
      })
      await server.client(idTag, token).call(logout, {})
      expect((await device.told()).at(-1)?.data).toEqual({ event: 'revoked', sid: signedIn?.data.sid })
      expect(client).toBeDefined()
    })
  })

  describe('ends at once, with 1008, the sockets', () => {
    test('of a session that signs out, and no others', async () => {
      const { idTag, connect } = await person()
      const token = await server.signIn(idTag)
      await using device = await BusDevice.connect(server, idTag, token)
      await using other = await connect()
      await server.client(idTag, token).call(logout, {})
      expect(await codeOf(device, 1000)).toBe(1008)
      expect(await other.ask('ping')).toEqual({ status: 'pong' })
    })

    test('of all other sessions when the password changes', async () => {
      const { idTag, connect } = await person()
      await using device = await connect()
      const token = await server.signIn(idTag)
      await server
        .client(idTag, token)
        .call(changePassword, { body: { currentPassword: testPassword, newPassword: 'another fine one' } })
      expect(await codeOf(device, 1000)).toBe(1008)
    })

    test('of a session that is revoked from another device', async () => {
      const { idTag, client } = await person()
      const token = await server.signIn(idTag)
      await using device = await BusDevice.connect(server, idTag, token)
      const { sid } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
      await client.call(revokeSession, { params: { sid } })
      expect(await codeOf(device, 1000)).toBe(1008)
    })

    test('of an API key that is deleted', async () => {
      const { idTag, client } = await person()
      const { data } = await client.call(createApiKey, { body: { name: 'bus' } })
      await using device = await BusDevice.connect(server, idTag, data.key)
      await client.call(deleteApiKey, { params: { keyId: data.keyId } })
      expect(await codeOf(device, 1000)).toBe(1008)
    })

    test('of a tenant that is suspended', async () => {
      const { idTag, connect } = await person()
      await using device = await connect()
      await server.suspend(idTag)
      expect(await codeOf(device, 1000)).toBe(1008)
    })

    test('of a visitor who signs out at home', async () => {
      const [host, visitor] = [await person(), await person()]
      const token = await server.signIn(visitor.idTag)
      const home = server.client(visitor.idTag, token)
      const { data } = await home.call(getProxyToken, {
        query: { target: host.idTag },
      })
      await using device = await BusDevice.connect(server, host.idTag, data.token)
      await home.call(logout, {})
      expect(await codeOf(device, 1000)).toBe(1008)
    })

    test('of what another process has revoked, within five seconds', async () => {
      const { tenantId, connect } = await person()
      await using device = await connect()
      // As another process would: this one hears nothing of it.
      await server.db.transact(tenantId, async (tx) => {
        await tx
          .tables<{ sessions: { tenant_id: number; revoked_at: number } }>()
          .updateTable('sessions')
          .set({ revoked_at: 1 })
          .where('tenant_id', '=', tenantId)
          .execute()
      })
      expect(await codeOf(device, 4000)).toBe(1008)
    })
  })

  test('does not end when a token is over', async () => {
    const { idTag, client, connect } = await person()
    const token = (await client.call(getAccessToken, {})).data.token
    await using device = await BusDevice.connect(server, idTag, token)
    for (let at = 0; at < 145; at += 1) {
      server.clock.advance(25_000)
      await device.ask('ping')
    }
    const late = await BusDevice.open(server, idTag, `?token=${token}`)
    expect(await codeOf(late, 1000)).toBe(1008)
    await client.call(createAction, { body: hello })
    expect(await device.told('ACTION')).toHaveLength(1)
    expect(connect).toBeDefined()
  })

  describe('keeps events', () => {
    test('for whoever comes back, in their order, and says when that was all', async () => {
      const { client, connect } = await person()
      const first = await connect()
      await client.call(createAction, { body: hello })
      const [seen] = await first.told()
      await first[Symbol.asyncDispose]()
      await client.call(createAction, { body: { ...hello, content: { text: 'two' } } })
      await client.call(putSetting, { params: { name: 'ui.x' }, body: { value: 1 } })
      await client.call(createAction, { body: { ...hello, content: { text: 'three' } } })
      await server.running.features.bus.settled()
      await using second = await connect()
      expect(await second.ask('subscribe', { since: seen?.seq })).toEqual({ status: 'ok', seq: 4 })
      const told = await second.told()
      expect(told.map(({ cmd, seq }) => [cmd, seq])).toEqual([
        ['ACTION', 2],
        ['SETTING', 3],
        ['ACTION', 4],
      ])
      expect(told[2]?.data.content.text).toBe('three')
      await client.call(createAction, { body: hello })
      expect((await second.told()).at(-1)?.seq).toBe(5)
      expect(await second.ask('subscribe', { since: 5 })).toEqual({ status: 'ok', seq: 5 })
      expect(await second.told()).toHaveLength(4)
    })

    test('and replays them first thing to a connection that names a number', async () => {
      const { idTag, tenantId, client, token, connect } = await person()
      const first = await connect()
      for (const value of [1, 2, 3])
        await client.call(putSetting, { params: { name: `ui.x${value}` }, body: { value } })
      await first.told()
      await first[Symbol.asyncDispose]()
      await using second = await BusDevice.open(server, idTag, `?since=1&token=${await token()}`)
      // Live, and in no log: it waits for the end of the replay.
      server.running.features.bus.pass(tenantId, {
        kind: 'SESSION',
        event: 'signed-in',
        sid: 'x',
        to: [idTag],
      })
      await second.ask('ping')
      const numbered = second.client.json.flatMap(({ seq }) => (seq === undefined ? [] : [seq]))
      expect(numbered).toEqual([2, 3])
      expect(second.client.json.find(({ cmd }) => cmd === 'ack')).toEqual({
        cmd: 'ack',
        data: { status: 'ok', seq: 3 },
      })
      await client.call(putSetting, { params: { name: 'ui.x4' }, body: { value: 4 } })
      expect((await second.told('SETTING')).at(-1)?.seq).toBe(4)
    })

    test.each([
      ['99', { status: 'error', code: 'gap', seq: 1 }],
      ['yesterday', { status: 'error' }],
      ['1', { status: 'ok', seq: 1 }],
    ])('or says why not: ?since=%s', async (since, answer) => {
      const { idTag, client, token, connect } = await person()
      await using first = await connect()
      await client.call(putSetting, { params: { name: 'ui.x' }, body: { value: 1 } })
      await first.told()
      await using second = await BusDevice.open(server, idTag, `?since=${since}&token=${await token()}`)
      await second.ask('ping')
      expect(second.client.json[0]).toMatchObject({ cmd: 'ack', data: answer })
      await client.call(putSetting, { params: { name: 'ui.x' }, body: { value: 2 } })
      expect((await second.told('SETTING')).map(({ seq }) => seq)).toEqual([2])
    })

    test('for ten replays a minute', async () => {
      const { connect } = await person()
      await using device = await connect()
      for (let at = 0; at < 10; at += 1) await device.ask('subscribe', { since: 0 })
      expect(await device.ask('subscribe', { since: 0 })).toMatchObject({ status: 'error', code: 'rate' })
      expect(await device.ask('subscribe')).toEqual({ status: 'ok', seq: 0 })
    })

    test('but shows what may be read when they are asked for', async () => {
      const { client, connect } = await person()
      const first = await connect()
      await first[Symbol.asyncDispose]()
      const { data } = await client.call(createAction, { body: hello })
      await client.call(deleteAction, { params: { actionId: data.actionId as ActionId } })
      await server.running.features.bus.settled()
      await using second = await connect()
      expect(await second.ask('subscribe', { since: 0 })).toEqual({ status: 'ok', seq: 2 })
      expect((await second.told()).map(({ cmd }) => cmd)).toEqual(['ACTION_STATUS'])
    })

    test('a thousand of them; of whoever missed more it says so', async () => {
      const { tenantId, connect } = await person()
      const { bus } = server.running.features
      const first = await connect()
      await first[Symbol.asyncDispose]()
      const tell = (count: number) =>
        server.db.transact(tenantId, async (tx) => {
          for (let at = 0; at < count; at += 1)
            await bus.tell(tx, { kind: 'SETTING', name: 'ui.none', to: [] })
        })
      for (const count of [400, 400, 400]) {
        await tell(count)
        await bus.settled()
      }
      await using second = await connect()
      const gap = { status: 'error', message: expect.any(String), code: 'gap', seq: 1200 }
      expect(await second.ask('subscribe', { since: 0 })).toEqual(gap)
      expect(await second.ask('subscribe', { since: 200 })).toEqual({ status: 'ok', seq: 1200 })
      expect(await second.ask('subscribe', { since: 5000 })).toEqual(gap)
      const { bus_events: kept } = await server.countRows('bus_events')
      expect(kept).toBeLessThan(1100)
    })

    test('for seven days, and says so to whoever was away longer', async () => {
      await using own = await TestServer.start()
      await own.createTenant('alice.localhost')
      const client = await own.as('alice.localhost')
      const connect = async () => {
        const { data } = await (await own.as('alice.localhost')).call(getAccessToken, {})
        return BusDevice.connect(own, 'alice.localhost', data.token)
      }
      const first = await connect()
      await client.call(createAction, { body: hello })
      expect(await first.told()).toHaveLength(1)
      await first[Symbol.asyncDispose]()
      own.clock.advance(6 * 86_400_000)
      await client.call(createAction, { body: hello })
      // What is due by now looks at the time of now.
      await own.settle()
      own.clock.advance(2 * 86_400_000)
      await own.settle()
      expect(await own.countRows('bus_events')).toEqual({ bus_events: 1 })
      // Nobody listens any more, so this is not written down.
      await (await own.as('alice.localhost')).call(createAction, { body: hello })
      await using second = await connect()
      for (const since of [0, 1, 2])
        expect(await second.ask('subscribe', { since })).toMatchObject({ status: 'error', code: 'gap' })
    })

    test('of nobody who has not listened for a week', async () => {
      const { client, connect } = await person()
      const before = await server.countRows('bus_logs', 'bus_events')
      await client.call(createAction, { body: hello })
      expect(await server.countRows('bus_logs', 'bus_events')).toEqual(before)
      await using device = await connect()
      await client.call(createAction, { body: hello })
      expect((await device.told())[0]?.seq).toBe(1)
      expect(await server.countRows('bus_events')).toEqual({ bus_events: (before.bus_events ?? 0) + 1 })
    })

    test('and passes over those that a newer process has written', async () => {
      const { tenantId, connect, client } = await person()
      await using device = await connect()
      await server.db.transact(tenantId, (tx) =>
        server.running.features.bus.tell(tx, { kind: 'NEWER', to: [] } as never),
      )
      await client.call(putSetting, { params: { name: 'ui.x' }, body: { value: 1 } })
      expect((await device.told()).map(({ cmd, seq }) => [cmd, seq])).toEqual([['SETTING', 2]])
    })

    test('that a process wrote down before it died', async () => {
      const { tenantId, connect } = await person()
      await using device = await connect()
      // Written, and nobody was told: the process ended between the two.
      await server.db.transact(tenantId, async (tx) => {
        await tx
          .tables<{ bus_events: { tenant_id: number; at: number; notice: string } }>()
          .insertInto('bus_events')
          .values({
            tenant_id: tenantId,
            at: Math.floor(server.clock.now() / 1000),
            notice: JSON.stringify({ kind: 'SETTING', name: 'ui.lost', to: [`p${people}.localhost`] }),
          })
          .execute()
      })
      server.clock.advance(3000)
      await server.running.features.bus.settled()
      expect(await device.told()).toMatchObject([{ cmd: 'SETTING', data: ['ui.lost', null], seq: 1 }])
    })
  })

  test('knows who is there, and who is only connected', async () => {
    const { tenantId, idTag, connect } = await person()
    const { bus } = server.running.features
    const isThere = () => bus.isConnected(tenantId, idTag)
    expect(await isThere()).toBe(false)
    const [one, two] = [await connect(), await connect()]
    expect(await isThere()).toBe(true)
    await one.ask('presence', { state: 'idle' })
    await two.ask('presence', { state: 'idle' })
    expect(await isThere()).toBe(true)
    for (let at = 0; at < 12; at += 1) {
      server.clock.advance(27_000)
      await Promise.all([one, two].map((device) => device.ask('ping')))
    }
    expect(await isThere()).toBe(false)
    await one.ask('presence', { state: 'active' })
    expect(await isThere()).toBe(true)
    await one[Symbol.asyncDispose]()
    await expect.poll(isThere).toBe(false)
    await two[Symbol.asyncDispose]()
  })

  test('ends with 1011 when the store fails, so that its clients come back and ask', async () => {
    const own = await TestServer.start()
    const token = await own.signIn('home.localhost')
    const { tenantId } = await own.running.features.identity.tenants.base()
    await using device = await BusDevice.connect(own, 'home.localhost', token)
    await own.db.close()
    own.running.services.nodeBus.publish(`tenant:${tenantId}`, JSON.stringify({ seq: 99 }))
    expect((await device.client.closed).code).toBe(1011)
    await own.stop().catch(() => undefined)
  })

  test('says goodbye with 1012 when the server stops', async () => {
    const own = await TestServer.start()
    const token = await own.signIn('home.localhost')
    const devices = await Promise.all(
      Array.from({ length: 5 }, () => BusDevice.connect(own, 'home.localhost', token)),
    )
    await own.stop()
    for (const device of devices) expect((await device.client.closed).code).toBe(1012)
  })
})
