#!/usr/bin/env node
// Read by any Node: a static import here, or newer syntax, would fail in an old one before it could say why.
const leastNode = 24
const { node } = process.versions

if (Number.parseInt(node, 10) >= leastNode) import('./start.js')
else {
  const root = decodeURIComponent(new URL('../../..', import.meta.url).pathname)
  process.stderr.write(`Kith needs Node.js ${leastNode} or newer, and this is ${node} (${process.execPath}).
On Linux with glibc, on x86-64 and arm64, npm ci in ${root} brings one:
  cd ${root} && npx kith ${process.argv.slice(2).join(' ')}
  ${root}node_modules/.bin/node ${root}packages/server/bin/kith.js
Elsewhere install a newer Node.js. docs/operations/install.md tells more.
`)
  process.exitCode = 1
}
