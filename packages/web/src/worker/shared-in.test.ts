import { expect, test } from 'vitest'
import { giveShared, takeIn } from './shared-in.ts'

/** A form of one file, as the system sends it; the frame around the file takes some 200 bytes. */
async function formOf(bytes: number): Promise<Request> {
  const body = new FormData()
  body.append('title', 'Plums')
  body.append('files', new File(['x'.repeat(bytes)], 'plums.txt', { type: 'text/plain' }))
  const sent = new Response(body)
  const headers = { 'content-type': sent.headers.get('content-type') ?? '' }
  return new Request('https://home.example/new/shared', { method: 'POST', headers, body: await sent.bytes() })
}

/** Hands it over; the id under which its page finds it, and the work that holds it. */
async function hand(bytes: number, maxBytes?: number) {
  const held: Promise<unknown>[] = []
  const answer = await takeIn(await formOf(bytes), (work) => held.push(work), maxBytes)
  const id = new URL(answer.headers.get('location') ?? '', 'https://home.example').searchParams.get('shared')
  return { id: id ?? '', held }
}

const sizesOf = (ids: readonly string[]) => ids.map((id) => giveShared(id)?.files[0]?.size)

test('what was handed over is given to its page, once, and nothing is held any more', async () => {
  const { id, held } = await hand(10)
  expect(giveShared(id)).toMatchObject({ title: 'Plums', text: '', url: '' })
  expect(giveShared(id)).toBe(undefined)
  await Promise.all(held)
})

test('more than can be held at once is refused, and not kept', async () => {
  const { id, held } = await hand(3_000, 2_000)
  expect([id, held]).toEqual(['too-large', []])
})

test('what waits longest makes room for what would be too much beside it', async () => {
  const [first, second, third] = [await hand(900, 3_000), await hand(901, 3_000), await hand(902, 3_000)]
  expect(sizesOf([first.id, second.id, third.id])).toEqual([undefined, 901, 902])
  await Promise.all([...first.held, ...second.held, ...third.held])
})

test('ten wait at most', async () => {
  const ids: string[] = []
  for (let count = 0; count < 11; count += 1) ids.push((await hand(count)).id)
  expect(sizesOf(ids)).toEqual([undefined, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('what is no form is not taken', async () => {
  const request = new Request('https://home.example/new/shared', { method: 'POST', body: 'text' })
  const answer = await takeIn(request, () => undefined)
  expect(answer.headers.get('location')).toBe('/new?shared=unread')
})
