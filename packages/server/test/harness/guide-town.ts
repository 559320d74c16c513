import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startDnsServer } from './dns-server.ts'
import { Pebble } from './pebble.ts'

// What the guides take as given around their machine, run on it: node guide-town.ts FOLDER [PEBBLE]. A DNS, in which the names of
// the guides lead to the machine, and an authority for certificates. FOLDER has what is known of the authority when it is ready.

const [folder = '', pebble] = process.argv.slice(2)
const dns = await startDnsServer(53)
for (const name of ['example.com', 'alice.example.com']) dns.set(name, 'A', '192.0.2.10')
dns.set('authority.example.com', 'A', '127.0.0.1')
if (pebble) {
  const address = '127.0.0.1'
  const authority = await Pebble.start(pebble, { address, dns: `${address}:53`, httpPort: 80, tlsPort: 443 })
  process.once('SIGTERM', async () => {
    await authority[Symbol.asyncDispose]()
    process.exit()
  })
  await copyFile(authority.caFile, join(folder, 'authority.pem'))
  await writeFile(join(folder, 'root.pem'), await authority.root())
  const directory = authority.directoryUrl.replace(address, 'authority.example.com')
  await writeFile(join(folder, 'directory'), directory)
}
await writeFile(join(folder, 'ready'), '')
