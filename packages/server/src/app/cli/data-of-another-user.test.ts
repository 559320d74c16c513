import { chown, readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { canBeNobody } from '#harness/as-user.ts'
import { openLineBesideServer } from '#harness/line-beside-server.ts'
import { skipSuite } from '#harness/skip-suite.ts'

const nobody = 65_534

if (!canBeNobody()) skipSuite('commands of root on the data of another user', 'needs root and setpriv')
else
  test('root is told to run commands as the user that has the data, and makes nothing there', async () => {
    await using beside = await openLineBesideServer()
    const { line } = beside
    const before = await readdir(line.dataDir)
    await chown(line.dataDir, nobody, nobody)
    const writing = ['tenant create a.localhost', 'ref create invite', 'migrate', 'restore /dev/null']
    for (const words of writing.map((text) => text.split(' ')))
      expect(await line.fails(...words)).toMatchObject({
        exitCode: 1,
        code: 'E-STATE',
        message: expect.stringContaining(`belongs to the user ${nobody}`),
      })
    expect(await readdir(line.dataDir)).toEqual(before)
    // What only looks at the server may be root's.
    expect((await line.json('status')).database).toBe('current')
    await chown(line.dataDir, 0, 0)
  })
