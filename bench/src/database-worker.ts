import { processorMs, readInput } from './processes.ts'
import type { DatabaseInput } from './scenarios/databases.ts'
import type { WriteResult } from './scenarios/documents.ts'
import { openSocket, until } from './sockets.ts'

/** Writers who each create one document after the other, and sockets that listen to all of them or to one room. */
async function run(input: DatabaseInput): Promise<WriteResult> {
  const { url, pid, writers, sockets, rooms, seconds } = input
  let events = 0
  const open = Array.from({ length: sockets }, async (_, socket) => {
    const perSocket = rooms / sockets
    const filters = Array.from({ length: perSocket }, (_, at) => ({ room: socket * perSocket + at }))
    await openListener(url, filters, () => {
      events += 1
    })
  })
  await Promise.all(open)
  let writes = 0
  let isStopped = false
  const write = () => {
    if (isStopped) return undefined
    const room = rooms === 0 ? 0 : writes % rooms
    writes += 1
    return { type: 'create', path: 'items', data: { room, text: 'an item of the bench' } }
  }
  const writing = await Promise.all(Array.from({ length: writers }, () => openWriter(url, write)))
  for (const writeNext of writing) writeNext()
  await new Promise((resolve) => setTimeout(resolve, (seconds / 4) * 1000))
  const before = { writes, at: performance.now(), cpuMs: await processorMs(pid) }
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  isStopped = true
  await until(() => events === (rooms === 0 ? writes * sockets : writes))
  const counted = writes - before.writes
  return {
    perSecond: (counted / (performance.now() - before.at)) * 1000,
    cpuMs: ((await processorMs(pid)) - before.cpuMs) / counted,
  }
}

/** Subscribes with each of the filters, or without one; resolves when all are ready. */
async function openListener(url: string, filters: readonly object[], hear: () => void): Promise<void> {
  const requests = filters.length === 0 ? [{}] : filters.map((equals) => ({ filter: { equals } }))
  let ready = 0
  const socket = await openSocket(url, (message) => {
    const { type, code, event } = JSON.parse(String(message))
    if (type === 'error') throw new Error(`a subscription was answered ${code}`)
    if (event?.action === 'ready') ready += 1
    else if (type === 'change') hear()
  })
  for (const request of requests)
    socket.send(JSON.stringify({ id: 1, type: 'subscribe', path: 'items', ...request }))
  await until(() => ready === requests.length, 60_000)
}

async function openWriter(url: string, next: () => object | undefined): Promise<() => void> {
  const socket = await openSocket(url, (message) => {
    const { type, code } = JSON.parse(String(message))
    if (type === 'error') throw new Error(`a write was answered ${code}`)
    writeNext()
  })
  const writeNext = () => {
    const operation = next()
    if (operation) socket.send(JSON.stringify({ id: 1, type: 'transaction', operations: [operation] }))
  }
  return writeNext
}

process.stdout.write(JSON.stringify(await run(await readInput<DatabaseInput>())), () => process.exit())
