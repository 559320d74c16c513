import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { TestServer } from '#harness/test-server.ts'

test('is the document that a running server answers', async () => {
  await using line = await CommandLine.open()
  const printed = await line.json('openapi')
  expect(await readdir(line.folder)).toEqual([])
  await using server = await TestServer.start()
  const answered = await (await server.request(server.baseIdTag, '/api/openapi.json')).json()
  // A server has its tags in the order in which its parts are put together.
  const tags = expect.arrayContaining(printed.tags)
  expect(answered).toEqual({ ...printed, tags })
  expect(JSON.parse((await line.run(['openapi'])).out)).toEqual(printed)
})
