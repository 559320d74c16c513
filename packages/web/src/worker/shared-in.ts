import { type SharedIn, tooLargeShare } from '#lib/shared-in.ts'

// As long as a browser lets a worker go on for the sake of an event: who has to sign in first has that time.
const keptForMs = 5 * 60_000
const keptAtMost = 10
// Of all that waits: ten times the largest file that a server takes where nobody has set another bound. Any page can send forms.
export const maxSharedBytes = 1_000_000_000

interface Waiting {
  readonly shared: SharedIn
  readonly bytes: number
  end(): void
}

// In memory alone, so that nothing of it stays on the device. Bound: `keptAtMost`, `maxSharedBytes`.
const waiting = new Map<string, Waiting>()

/** Takes what another program hands over, and leads to the composer, whose page asks for it. */
export async function takeIn(
  request: Request,
  waitUntil: (work: Promise<unknown>) => void,
  maxBytes = maxSharedBytes,
): Promise<Response> {
  const counted = { bytes: 0 }
  const shared = await readShared(request, counted, maxBytes)
  if (!shared) return lead(counted.bytes > maxBytes ? tooLargeShare : 'unread')
  const id = crypto.randomUUID()
  makeRoom(maxBytes - counted.bytes)
  waitUntil(hold(id, shared, counted.bytes))
  return lead(id)
}

function lead(id: string): Response {
  return new Response(null, { status: 303, headers: { location: `/new?shared=${id}` } })
}

async function readShared(
  request: Request,
  counted: { bytes: number },
  maxBytes: number,
): Promise<SharedIn | undefined> {
  try {
    const form = await upTo(request, counted, maxBytes).formData()
    const said = (name: string) => String(form.get(name) ?? '')
    const files = form.getAll('files').filter((each) => each instanceof File)
    return { title: said('title'), text: said('text'), url: said('url'), files }
  } catch {
    return undefined
  }
}

/** The form, which fails once it is larger than that: what was read by then is let go. */
function upTo({ body, headers }: Request, counted: { bytes: number }, maxBytes: number): Response {
  const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      counted.bytes += chunk.byteLength
      if (counted.bytes > maxBytes) controller.error(new Error('too much was shared'))
      else controller.enqueue(chunk)
    },
  })
  const type = headers.get('content-type') ?? ''
  return new Response(body?.pipeThrough(count) ?? null, { headers: { 'content-type': type } })
}

/** Lets go of what waits longest, until the rest is within the bounds. */
function makeRoom(maxBytes: number): void {
  for (const [id] of [...waiting]) {
    const bytes = [...waiting.values()].reduce((sum, one) => sum + one.bytes, 0)
    if (waiting.size < keptAtMost && bytes <= maxBytes) return
    giveShared(id)
  }
}

/** Keeps it until it is taken, or nobody comes for it. */
async function hold(id: string, shared: SharedIn, bytes: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  waiting.set(id, { shared, bytes, end: resolve })
  const timer = setTimeout(resolve, keptForMs)
  await promise
  clearTimeout(timer)
  waiting.delete(id)
}

/** Gives what was handed over to its page, once. */
export function giveShared(id: string): SharedIn | undefined {
  const known = waiting.get(id)
  known?.end()
  waiting.delete(id)
  return known?.shared
}
