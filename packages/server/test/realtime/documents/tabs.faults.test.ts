import { afterAll, beforeAll, test } from 'vitest'
import { Dice } from '#harness/dice.ts'
import { Meeting } from '#harness/document-meeting.ts'
import { TestServer } from '#harness/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

test('two tabs of a browser and others see exactly those who are there', async () => {
  await using meeting = await Meeting.open(server, true)
  await meeting.go(['reopen alice 1', 'reopen alice 2', 'reopen bob', 'reopen guest'], 60, new Dice(7))
})
