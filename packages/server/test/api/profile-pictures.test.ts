import {
  changeFile,
  createFile,
  deleteFile,
  getAccessToken,
  getProxyToken,
  listFiles,
  putSetting,
  restoreFile,
} from '@kith/protocol'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TestServer } from '#harness/test-server.ts'

const home = 'home.localhost'
const alice = 'alice.localhost'
const bob = 'bob.localhost'

let server: TestServer
let token: string
let png: Uint8Array<ArrayBuffer>
beforeAll(async () => {
  server = await TestServer.start({ baseIdTag: home })
  for (const name of [alice, bob]) await server.createTenant(name)
  token = await server.signIn(alice)
  const background = { r: 10, g: 120, b: 200 }
  const drawn = await sharp({ create: { width: 900, height: 600, channels: 3, background } })
    .png()
    .toBuffer()
  png = new Uint8Array(drawn)
})
afterAll(() => server.stop())

interface Sending {
  readonly path?: '/api/me/image' | '/api/me/cover'
  readonly bearer?: string | undefined
  readonly body?: Uint8Array<ArrayBuffer> | string
  readonly type?: string
  readonly host?: string
}

async function send({
  path = '/api/me/image',
  body = png,
  type = 'image/png',
  host = alice,
  ...rest
}: Sending = {}) {
  const bearer = 'bearer' in rest ? rest.bearer : token
  const response = await server.request(host, path, {
    method: 'PUT',
    headers: { 'content-type': type, ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }) },
    body,
  })
  const answer = (await response.json()) as { data?: Record<string, string>; error?: { code: string } }
  return { status: response.status, data: answer.data ?? {}, code: answer.error?.code }
}

async function read(path: string, host = alice): Promise<Response> {
  return server.request(host, path)
}

async function sizeOf(fileId: string | undefined): Promise<[number, number, string]> {
  const { width, height, format } = await sharp(
    Buffer.from(await (await read(`/api/files/${fileId}`)).arrayBuffer()),
  ).metadata()
  return [width, height, format]
}

const filesOf = async () => (await (await server.as(alice)).call(listFiles, { query: {} })).data

describe('PUT /api/me/image and /api/me/cover', () => {
  test('make pictures that everybody may read, and the profile shows', async () => {
    const image = await send()
    expect(image).toEqual({
      status: 200,
      data: { profilePic: image.data.fileId, fileId: image.data.fileId },
      code: undefined,
    })
    const cover = await send({ path: '/api/me/cover' })
    expect(cover.data).toEqual({ coverPic: cover.data.fileId, fileId: cover.data.fileId })
    expect(await sizeOf(image.data.fileId)).toEqual([400, 400, 'webp'])
    const [width, height] = await sizeOf(cover.data.fileId)
    expect(width / height).toBeCloseTo(16 / 9, 1)
    const headers = (await read(`/api/files/${image.data.fileId}`)).headers
    expect(headers.get('cache-control')).toContain('public')

    const shown = { profilePic: image.data.profilePic, coverPic: cover.data.coverPic }
    for (const path of ['/api/me', `/api/profiles/${alice}`])
      expect(await (await read(path)).json()).toMatchObject({ data: shown })
    expect(await (await read(`/.well-known/service/id-tag`)).json()).toMatchObject({
      data: { profilePic: image.data.profilePic },
    })
    expect(await (await read(`/api/profiles/${alice}`, bob)).json()).toMatchObject({ data: shown })
  })

  test('take a picture that is called another one as what it is', async () => {
    for (const type of ['image/jpeg', 'image/svg+xml', 'image/x-unheard-of', 'application/octet-stream'])
      for (const path of ['/api/me/image', '/api/me/cover'] as const)
        expect([type, path, (await send({ type, path })).status]).toEqual([type, path, 200])
    expect((await send({ type: 'image/png', body: 'no picture' })).status).toBe(400)
  })

  test('remove the picture that was there before', async () => {
    const first = await send()
    const second = await send()
    expect((await read(`/api/files/${first.data.fileId}`)).status).toBe(404)
    expect((await read(`/api/files/${second.data.fileId}`)).status).toBe(200)
    expect((await filesOf()).map(({ fileId }) => fileId)).not.toContain(first.data.fileId)
  })

  test('leave the profile with their files, alone or with a folder above', async () => {
    const owner = await server.as(alice)
    const picturesOn = async (path: string) => {
      const { data } = (await (await read(path)).json()) as { data: Record<string, string> }
      return [data.profilePic, data.coverPic]
    }
    const image = (await send()).data.fileId!
    const cover = (await send({ path: '/api/me/cover' })).data.fileId!
    await owner.call(deleteFile, { params: { fileId: image } })
    for (const path of ['/api/me', `/api/profiles/${alice}`])
      expect(await picturesOn(path)).toEqual([undefined, cover])
    expect(await picturesOn('/.well-known/service/id-tag')).toEqual([undefined, undefined])

    await owner.call(restoreFile, { params: { fileId: image }, body: {} })
    expect(await picturesOn('/api/me')).toEqual([undefined, cover])

    const folder = await owner.call(createFile, { body: { fileTp: 'FLDR', fileName: 'Pictures' } })
    const { fileId: parentId } = folder.data
    await owner.call(changeFile, { params: { fileId: cover }, body: { parentId } })
    await owner.call(deleteFile, { params: { fileId: parentId } })
    expect(await picturesOn('/api/me')).toEqual([undefined, undefined])
  })

  test('two at the same time leave one', async () => {
    const both = await Promise.all([send(), send()])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    const { data } = (await (await read('/api/me')).json()) as { data: { profilePic: string } }
    const answers = await Promise.all(both.map((made) => read(`/api/files/${made.data.fileId}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await read(`/api/files/${data.profilePic}`)).status).toBe(200)
  })

  test.each<[string, Sending, number, string]>([
    ['SVG', { body: '<svg xmlns="http://www.w3.org/2000/svg"/>', type: 'image/svg+xml' }, 415, 'E-MEDIATYPE'],
    ['text', { body: 'Hello', type: 'text/plain' }, 415, 'E-MEDIATYPE'],
    [
      'what only begins like one',
      { body: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0]) },
      400,
      'E-VALIDATION',
    ],
    ['JSON', { body: '{}', type: 'application/json' }, 415, 'E-MEDIATYPE'],
    ['what is not what it says', { body: 'Hello', type: 'image/png' }, 400, 'E-VALIDATION'],
    ['nobody', { bearer: undefined }, 401, 'E-AUTH-UNAUTH'],
  ])('take nothing from %s', async (_, sending, status, code) => {
    const before = await filesOf()
    for (const path of ['/api/me/image', '/api/me/cover'] as const)
      expect(await send({ ...sending, path })).toMatchObject({ status, code })
    expect(await filesOf()).toEqual(before)
  })

  test('are the owner’s, with the scope of the profile', async () => {
    const visitor = await (await server.as(bob)).call(getProxyToken, { query: { target: alice } })
    const owner = await server.as(alice)
    const narrowed = async (scope: string) =>
      (await owner.call(getAccessToken, { query: { scope } })).data.token
    const forbidden = { status: 403, code: 'E-AUTH-FORBIDDEN' }
    expect(await send({ bearer: visitor.data.token })).toMatchObject(forbidden)
    for (const scope of ['write:files', 'read:profile'])
      expect(await send({ bearer: await narrowed(scope) })).toMatchObject(forbidden)
    expect(await send({ bearer: await narrowed('write:profile') })).toMatchObject({ status: 200 })
    expect(await send({ host: bob })).toMatchObject({ status: 401, code: 'E-AUTH-UNAUTH' })
  })

  test('are limited as every file is', async () => {
    const admin = await server.as(home)
    const limit = (name: string, value: number) =>
      admin.call(putSetting, { params: { name }, body: { value } as never })
    await limit('limits.max_file_mb', 0.0005)
    expect(await send()).toMatchObject({ status: 413, code: 'E-TOOLARGE' })
    await limit('limits.max_file_mb', 100)
    await limit('limits.max_storage_gb', 0.0000001)
    expect(await send()).toMatchObject({ status: 507, code: 'E-QUOTA' })
    await limit('limits.max_storage_gb', 10)
    expect(await send()).toMatchObject({ status: 200 })
  })
})
