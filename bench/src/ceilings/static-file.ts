import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import fastify from 'fastify'

/** A bare Fastify: one route that streams one file, in steps as large as the server's. */
const [path = ''] = process.argv.slice(2)
const app = fastify()
app.get('/', async (_, reply) => {
  const { size } = await stat(path)
  return reply
    .header('content-type', 'application/octet-stream')
    .header('content-length', size)
    .send(createReadStream(path, { highWaterMark: 256 * 1024 }))
})
await app.listen({ host: '127.0.0.1', port: 0 })
const address = app.server.address()
const port = typeof address === 'object' ? address?.port : undefined
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
process.on('SIGTERM', () => process.exit(0))
