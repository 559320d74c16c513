import { pipeline, Readable, Transform } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'

// A page of a thousand keys has half a megabyte. The library keeps such an answer in memory before it reads it.
const maxTextBytes = 8 * 1024 * 1024

/** Cuts off whatever is no object and longer than an answer in XML is: an error or a list, which a store that is none
 * could send without end. */
export function boundAnswers({ middlewareStack }: Pick<S3Client, 'middlewareStack'>): void {
  middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const answered = await next(args)
        const response = answered.response as { statusCode: number; body?: unknown }
        const isObject = commandName === 'GetObjectCommand' && response.statusCode < 300
        if (!isObject && response.body instanceof Readable) response.body = bounded(response.body)
        return answered
      },
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  )
}

function bounded(body: Readable): Readable {
  let left = maxTextBytes
  const counting = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      left -= chunk.byteLength
      if (left < 0) done(new Error('The store answers without end'))
      else done(null, chunk)
    },
  })
  // The reader of `counting` hears of whatever goes wrong.
  pipeline(body, counting, () => undefined)
  return counting
}
