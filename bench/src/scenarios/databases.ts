import { Kith, tempDir } from '../kith.ts'
import { type Figure, repeat } from '../measure.ts'
import { runOn } from '../processes.ts'
import type { Settings } from '../settings.ts'
import { realtimeFile } from '../sockets.ts'
import { type WriteResult, writeFigure } from './documents.ts'

const worker = new URL('../database-worker.ts', import.meta.url)
const writers = 10
const sockets = 100
// A socket sends 6 000 messages a minute; the two measurements together stay under half a minute.
const mostSeconds = 2

export interface DatabaseInput {
  readonly url: string
  readonly pid: number
  readonly writers: number
  readonly sockets: number
  /** That one subscription each is filtered by; with none, each socket listens to everything. */
  readonly rooms: number
  readonly seconds: number
}

/** Writes into a real-time database: to listeners of everything, and to many that each wait for one value. */
export async function databaseWrites(settings: Settings): Promise<Figure[]> {
  await using data = await tempDir()
  await using kith = await Kith.start(data.path, settings)
  const token = await kith.signIn()
  const measure = (rooms: number) =>
    repeat(settings.runs, async () => {
      const url = await realtimeFile(kith, token, 'RTDB')
      const seconds = Math.min(mostSeconds, settings.seconds)
      const input: DatabaseInput = { url, pid: kith.pid, writers, sockets, rooms, seconds }
      return await runOn<WriteResult>(1, worker, input)
    })
  return [
    writeFigure(`database writes, ${sockets} listeners`, await measure(0)),
    writeFigure('database writes, 10000 filtered listeners', await measure(10_000)),
  ]
}
