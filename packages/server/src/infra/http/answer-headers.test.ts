import { contract } from '@kith/protocol'
import Type from 'typebox'
import { afterEach, describe, expect, test } from 'vitest'
import { type HttpSite, startHttpSite } from '#harness/http-site.ts'
import { Failure } from '#lib/failure.ts'
import { bind, Reshaped } from './endpoint.ts'

let site: HttpSite | undefined
afterEach(async () => {
  await site?.close()
  site = undefined
})

const base = { path: '/api/thing', tag: 'Things', summary: 'Do', auth: 'none', errors: [] } as const
const answerHeaders = { 'thing-version': '1.0' }
const marks = contract({
  ...base,
  name: 'putThing',
  method: 'PUT',
  answerHeaders,
  query: Type.Object({ fails: Type.Optional(Type.Boolean()) }),
  reply: { kind: 'empty', status: 204 },
})
const typed = contract({
  ...base,
  name: 'patchThing',
  method: 'PATCH',
  body: { kind: 'bytes', mediaType: 'application/x-thing' },
  reply: { kind: 'empty', status: 204 },
})

async function serving(): Promise<HttpSite> {
  const put = bind(marks, async ({ query: { fails } }) => {
    if (fails) throw new Failure('E-STATE')
    return new Reshaped(undefined, { headers: { 'thing-offset': '5' } })
  })
  const patch = bind(typed, async ({ body: { stream } }) => void stream.resume())
  site = await startHttpSite([put, patch])
  return site
}

describe('The headers of a contract', () => {
  test('stand in its answers, its failures and the answer to OPTIONS', async () => {
    const { send } = await serving()
    const done = await send('/api/thing', { method: 'PUT' })
    expect([done.status, done.text]).toEqual([204, ''])
    expect(done.headers).toMatchObject({ ...answerHeaders, 'thing-offset': '5' })
    const refused = await send('/api/thing?fails=true', { method: 'PUT' })
    expect([refused.status, refused.headers]).toMatchObject([409, answerHeaders])
    const invalid = await send('/api/thing?fails=perhaps', { method: 'PUT' })
    expect([invalid.status, invalid.headers]).toMatchObject([400, answerHeaders])
    const options = await send('/api/thing', { method: 'OPTIONS' })
    expect([options.status, options.headers]).toMatchObject([204, answerHeaders])
  })

  test('stand in no answer of another contract', async () => {
    const { send } = await serving()
    const headers = { 'content-type': 'application/x-thing' }
    const answer = await send('/api/thing', { method: 'PATCH', headers, body: 'x' })
    expect(answer.status).toBe(204)
    expect(answer.headers).not.toHaveProperty('thing-version')
  })
})

describe('A body of one media type', () => {
  test.each([
    ['another', { 'content-type': 'application/octet-stream' }],
    ['a form', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['none', {}],
  ])('is refused with %s', async (_, headers) => {
    const { send } = await serving()
    const { status, json } = await send('/api/thing', { method: 'PATCH', headers, body: 'x' })
    expect([status, json.error.code]).toEqual([415, 'E-MEDIATYPE'])
  })
})
