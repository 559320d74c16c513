import { expect, test } from 'vitest'
import { untilAborted } from './until-aborted.ts'

async function* hanging() {
  yield 1
  await new Promise(() => {})
}

test('ends while the source hangs', async () => {
  const controller = new AbortController()
  const seen: number[] = []
  const read = async () => {
    for await (const item of untilAborted(hanging(), controller.signal)) {
      seen.push(item)
      setImmediate(() => controller.abort(new Error('enough')))
    }
  }
  await expect(read()).rejects.toThrow('enough')
  expect(seen).toEqual([1])
})

test('gives the source back to its owner when the reader stops early', async () => {
  const returned = Promise.withResolvers<void>()
  async function* source() {
    try {
      yield* [1, 2]
    } finally {
      returned.resolve()
    }
  }
  for await (const _ of untilAborted(source(), undefined)) break
  await returned.promise
})
