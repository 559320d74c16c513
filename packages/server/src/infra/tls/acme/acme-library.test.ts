import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startOrigin } from '#harness/origin-server.ts'
import { acmeLibrary } from './acme-library.ts'
import { newPrivateKey } from './x509.ts'

test('is not loaded with the room', async () => {
  const script = `
    import { createRequire } from 'node:module'
    const tls = await import(${JSON.stringify(new URL('../index.ts', import.meta.url).href)})
    const { cache } = createRequire(import.meta.url)
    const loaded = () => Object.keys(cache).some((file) => file.includes('/node_modules/acme-client/'))
    const before = loaded()
    await tls.newPrivateKey()
    console.log(before, loaded())`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect(stdout).toBe('false true\n')
})

test('sends nothing by itself', async () => {
  const { Client } = await acmeLibrary()
  await using origin = await startOrigin((_, response) => response.end('{}'))
  const client = new Client({ directoryUrl: origin.url, accountKey: await newPrivateKey() })
  await expect(client.getTermsOfServiceUrl()).rejects.toThrow('only inside')
  expect(origin.requests).toEqual([])
})
