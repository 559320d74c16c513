import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { S3Credentials, S3Location } from '#infra/config/index.ts'
import type { Logger } from '#infra/telemetry/index.ts'
import type { Clock } from '#lib/clock.ts'
import { Failure } from '#lib/failure.ts'
import type { BlobRange, SignedAnswer } from './blob-store.ts'
import { boundAnswers } from './s3-answers.ts'
import { S3Breaker } from './s3-breaker.ts'
import { type ExplainS3Error, explainS3Errors, isAbsent, readTrouble } from './s3-failure.ts'
import { readObject, type S3Body } from './s3-reading.ts'

export interface S3BucketOptions {
  readonly location: S3Location
  readonly credentials: S3Credentials
  readonly logger: Pick<Logger, 'error'>
  readonly clock: Pick<Clock, 'now'>
  readonly timeouts?: S3Timeouts
}

interface S3Timeouts {
  readonly connectMs: number
  /** Nothing has come or gone for so long. */
  readonly idleMs: number
  /** Until an answer to a small request begins, with all attempts. */
  readonly answerMs: number
}

interface S3Object {
  readonly key: string
  readonly size: number
  readonly modifiedAtMs: number
}

interface S3Upload {
  readonly key: string
  readonly uploadId: string
  readonly startedAtMs: number
}

const usualTimeouts: S3Timeouts = { connectMs: 3000, idleMs: 15_000, answerMs: 5000 }
const attempts = 3
// Readers and writers at once; the rest waits.
const maxSockets = 512
const leastPartBytes = 8 * 1024 * 1024
const maxParts = 10_000
// With the part that is being read, 24 MiB of memory for a large upload.
const partsAtOnce = 2

/** One bucket: what the store needs of the S3 interface, with timeouts, three attempts, and errors explained. */
export class S3Bucket {
  readonly #client: S3Client
  readonly #signer: S3Client
  readonly #bucket: string
  readonly #explain: ExplainS3Error
  readonly #breaker: S3Breaker
  readonly #answerMs: number

  constructor({ location, credentials, logger, clock, timeouts = usualTimeouts }: S3BucketOptions) {
    this.#breaker = new S3Breaker(clock)
    this.#answerMs = timeouts.answerMs
    this.#client = openClient(location, credentials, timeouts)
    // One that adds checksums adds that of no body to what it signs.
    this.#signer = openClient({ ...location, checksums: 'required' }, credentials, timeouts)
    this.#bucket = location.bucket
    this.#explain = explainS3Errors(location.bucket, logger)
  }

  /** Throws the library's own errors, for diagnosis. */
  async check(): Promise<void> {
    await this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }))
  }

  /** Whether the store has answered lately; one that has not is asked now, if it is time to. */
  async isAnswering(): Promise<boolean> {
    if (!this.#breaker.isOpen) return true
    const probe = (abortSignal: AbortSignal) =>
      this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal })
    await this.#breaker.run(() => this.#soon(probe)).catch(() => undefined)
    return !this.#breaker.isOpen
  }

  async size(key: string): Promise<number | undefined> {
    const found = await this.#unlessAbsent((abortSignal) =>
      this.#client.send(new HeadObjectCommand(this.#named(key)), { abortSignal }),
    )
    return found && (found.ContentLength ?? 0)
  }

  /** Undefined when there is no such object. */
  async read(key: string, range?: BlobRange): Promise<Readable | undefined> {
    const ask = async (abortSignal: AbortSignal, from?: BlobRange) => {
      const bytes = from && `bytes=${from.start}-${from.end}`
      const command = new GetObjectCommand({ ...this.#named(key), Range: bytes })
      const answer = await this.#client.send(command, { abortSignal })
      const body = answer.Body as unknown as S3Body
      const length = answer.ContentLength ?? 0
      if (!from || length <= from.end - from.start + 1) return { body, length }
      body.destroy()
      throw new Failure('E-UNAVAILABLE', {
        cause: new Error('The store answers with more than the part that it was asked for'),
        retryAfterSecs: 5,
      })
    }
    const first = await this.#unlessAbsent((signal) => ask(signal, range))
    if (!first) return undefined
    const start = range?.start ?? 0
    const end = start + first.length - 1
    // One that was removed meanwhile is no bug: its reader began before.
    const reopen = async (from: number, to: number) =>
      (await this.#explained(() => this.#soon((signal) => ask(signal, { start: from, end: to })))).body
    return readObject({ body: first.body, start, end, reopen, explain: this.#explain })
  }

  /** A presigned address of an object. It does not check whether the object exists. */
  async sign(key: string, answer: SignedAnswer): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#named(key),
      ResponseContentType: answer.contentType,
      ResponseContentDisposition: answer.contentDisposition,
      ResponseCacheControl: answer.cacheControl,
    })
    const signingDate = new Date(answer.signedAt * 1000)
    return await getSignedUrl(this.#signer, command, { signingDate, expiresIn: answer.lifeSecs })
  }

  /** Gives the bytes of a file their name, whole or not at all: one request, or parts that are put together at the end. */
  async write(key: string, { path, size }: { readonly path: string; readonly size: number }): Promise<void> {
    const Body = createReadStream(path, { highWaterMark: 1024 * 1024 })
    // It opens the file at once; the upload hears of a failure when it reads.
    Body.on('error', () => {})
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#named(key), Body, ContentLength: size },
      partSize: Math.max(leastPartBytes, Math.ceil(size / maxParts)),
      queueSize: partsAtOnce,
    })
    try {
      await this.#explained(() => upload.done())
    } finally {
      Body.destroy()
    }
  }

  async remove(key: string): Promise<void> {
    await this.#unlessAbsent((abortSignal) =>
      this.#client.send(new DeleteObjectCommand(this.#named(key)), { abortSignal }),
    )
  }

  /** Everything below a prefix, a thousand at a time. */
  async *list(prefix: string): AsyncGenerator<S3Object> {
    const question = { Bucket: this.#bucket, Prefix: prefix }
    const pages = paginateListObjectsV2({ client: this.#client }, question)
    while (true) {
      const { value, done } = await this.#explained(() => pages.next())
      if (done || !value) return
      for (const { Key: key, Size: size = 0, LastModified } of value.Contents ?? [])
        if (key !== undefined) yield { key, size, modifiedAtMs: LastModified?.getTime() ?? 0 }
    }
  }

  /** Uploads in parts that are not complete: at most a thousand, the next time the next. Nothing where the store cannot
   * tell. */
  async listUploads(prefix: string): Promise<S3Upload[]> {
    const question = { Bucket: this.#bucket, Prefix: prefix }
    try {
      const command = new ListMultipartUploadsCommand(question)
      const { Uploads = [] } = await this.#breaker.run(() => this.#client.send(command))
      return Uploads.flatMap(({ Key: key, UploadId: uploadId, Initiated }) =>
        key === undefined || uploadId === undefined
          ? []
          : [{ key, uploadId, startedAtMs: Initiated?.getTime() ?? 0 }],
      )
    } catch (error) {
      if (readTrouble(error).status === 501) return []
      throw this.#explain(error)
    }
  }

  /** An upload that has ended meanwhile is no failure. */
  async abort({ key, uploadId }: S3Upload): Promise<void> {
    const command = new AbortMultipartUploadCommand({ ...this.#named(key), UploadId: uploadId })
    await this.#unlessAbsent((abortSignal) => this.#client.send(command, { abortSignal }))
  }

  #named(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: key }
  }

  async #unlessAbsent<T>(ask: (abortSignal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.#breaker.run(() => this.#soon(ask))
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw this.#explain(error)
    }
  }

  async #explained<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await this.#breaker.run(ask)
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** Gives up when no answer has begun in time; what it brings may take longer. */
  async #soon<T>(ask: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    const giveUp = new AbortController()
    const timer = setTimeout(() => giveUp.abort(), this.#answerMs)
    try {
      return await ask(giveUp.signal)
    } finally {
      clearTimeout(timer)
    }
  }
}

function openClient(
  { region, endpoint, pathStyle, checksums }: S3Location,
  { accessKeyId, secretAccessKey }: S3Credentials,
  { connectMs, idleMs }: S3Timeouts,
): S3Client {
  const agent = { keepAlive: true, maxSockets }
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    forcePathStyle: pathStyle,
    credentials: { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
    requestChecksumCalculation: checksums === 'supported' ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED',
    // The name of a blob is its checksum already, and `kith blobs verify --deep` looks.
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: attempts,
    requestHandler: {
      connectionTimeout: connectMs,
      socketTimeout: idleMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  })
  boundAnswers(client)
  return client
}
