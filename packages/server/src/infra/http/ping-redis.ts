const connectTimeoutMs = 2000

/** Resolves when Redis answers and takes the credentials; otherwise throws what it says. */
export async function pingRedis(redisUrl: string): Promise<void> {
  const { Redis } = await import('ioredis')
  const client = new Redis(redisUrl, {
    lazyConnect: true,
    connectTimeout: connectTimeoutMs,
    commandTimeout: connectTimeoutMs,
    retryStrategy: () => null,
  })
  let reason: Error | undefined
  // More telling than what `connect` rejects with.
  client.on('error', (error: Error) => {
    reason ??= error
  })
  try {
    await client.connect()
    await client.ping()
  } catch (error) {
    throw reason ?? error
  } finally {
    client.disconnect()
  }
}
