import { expect, test } from 'vitest'
import { TestClock } from '#harness/test-clock.ts'
import type { BlobHash, SignedAnswer } from '#infra/blobs/index.ts'
import type { TenantId } from '#infra/db/index.ts'
import { redirectReading } from './redirect-reading.ts'

const clock = new TestClock()
const bytes = { tenantId: 1 as TenantId, hash: 'ab'.repeat(32) as BlobHash, fileName: 'a.bin' }

async function signed(contentType: string, forceDownload = false): Promise<SignedAnswer | undefined> {
  let asked: SignedAnswer | undefined
  const signedUrl = async (_tenant: TenantId, _hash: BlobHash, answer: SignedAnswer) => {
    asked = answer
    return 'https://bucket.example/signed'
  }
  await redirectReading({ blobs: { signedUrl }, clock }, { ...bytes, contentType, forceDownload })
  return asked
}

test.each([
  ['image/jpeg', 'inline'],
  ['image/avif', 'inline'],
  ['video/mp4', 'inline'],
  ['audio/ogg', 'inline'],
  ['image/svg+xml', 'attachment'],
  ['text/html', 'attachment'],
  ['application/xhtml+xml', 'attachment'],
  ['application/zip', 'attachment'],
  ['application/pdf', undefined],
  ['text/plain', undefined],
  ['text/plain; charset=utf-8', undefined],
  ['image/mine+xml', 'attachment'],
  ['video/x+xml', 'attachment'],
])('%s goes elsewhere as %s', async (contentType, disposition) => {
  const expected = disposition && { contentType, contentDisposition: `${disposition}; filename="a.bin"` }
  expect(await signed(contentType).then((answer) => answer && { ...answer })).toEqual(
    expected && expect.objectContaining(expected),
  )
})

test('what is to be saved goes elsewhere whatever it is, and to be saved', async () => {
  for (const contentType of ['application/pdf', 'text/plain', 'image/mine+xml'])
    expect((await signed(contentType, true))?.contentDisposition).toBe('attachment; filename="a.bin"')
})

test('a redirect that was kept leads somewhere until the last moment', async () => {
  const deps = { blobs: { signedUrl: async () => 'https://bucket.example/signed' }, clock }
  const picture = { ...bytes, contentType: 'image/png', forceDownload: false }
  for (let second = 0; second < 310; second += 1) {
    const { signedAt = 0, lifeSecs = 0 } = (await signed('image/png')) ?? {}
    const redirect = await redirectReading(deps, picture)
    const keptSecs = Number(/max-age=(\d+)/.exec(redirect?.['cache-control'] ?? '')?.[1])
    expect(clock.now() / 1000 + keptSecs).toBeLessThan(signedAt + lifeSecs)
    clock.advance(1000)
  }
})
