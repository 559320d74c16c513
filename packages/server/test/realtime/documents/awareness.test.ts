import { afterAll, beforeAll, test } from 'vitest'
import { Dice } from '#harness/dice.ts'
import { Meeting } from '#harness/document-meeting.ts'
import { TestServer } from '#harness/test-server.ts'

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
})
afterAll(() => server.stop())

const first = [
  ...['reopen alice 1', 'reopen alice 2', 'reopen bob', 'reopen guest'],
  ...[
    'strand alice 1',
    'notice alice 1',
    'cut alice 2',
    'restore alice 2',
    'close alice 2',
    'reopen alice 2',
  ],
  ...['cut bob', 'close alice 1', 'restore bob', 'reopen alice 1', 'crash alice 2', 'reopen alice 2'],
  ...['notice alice 2', 'strand guest', 'crash guest', 'notice guest', 'reopen guest'],
]

test('stock clients see exactly those who are there, whoever comes, goes, breaks off and reloads', async () => {
  await using meeting = await Meeting.open(server, false)
  await meeting.go(first, 60, new Dice(7))
})
