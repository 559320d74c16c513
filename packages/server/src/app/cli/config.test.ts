import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { CommandLine } from '#harness/command-line.ts'
import { variables } from '#infra/config/index.ts'

const secrets = {
  BASE_PASSWORD: 'word-of-the-base',
  MASTER_KEY: Buffer.alloc(32, 'k').toString('base64'),
  DATABASE_URL: 'postgres://kith:word-of-the-database@db.example/kith',
  REDIS_URL: 'redis://:word-of-redis@redis.example',
  SMTP_URL: 'smtp://kith:word-of-the-post@mail.example:587',
  S3_SECRET_ACCESS_KEY: 'word-of-the-bucket',
}

test('shows every variable with its value and where it is from', async () => {
  await using line = await CommandLine.open({ BASE_ID_TAG: 'Home.Example' })
  const { variables: shown } = await line.json('config')
  expect(shown.map(({ name }: { name: string }) => name)).toEqual(Object.keys(variables))
  const rowOf = (name: string) => shown.find((row: { name: string }) => row.name === name)
  expect(rowOf('BASE_ID_TAG')).toEqual({ name: 'BASE_ID_TAG', value: 'home.example', from: 'environment' })
  expect(rowOf('LOG_LEVEL')).toEqual({ name: 'LOG_LEVEL', value: 'info', from: 'default' })
  expect(rowOf('SMTP_URL')).toEqual({ name: 'SMTP_URL', value: null, from: 'default' })
  expect((await line.run(['config'])).out).toMatch(/^ {2}REDIS_URL +\(none\) +\(default\)$/m)
  expect(await readdir(line.folder)).toEqual([])
})

test('shows no secret', async () => {
  await using line = await CommandLine.open(secrets)
  for (const words of [['config'], ['config', '--json']]) {
    const { exitCode, out } = await line.run(words)
    expect(exitCode).toBe(0)
    for (const secret of Object.values(secrets)) expect(out).not.toContain(secret)
    expect(out).not.toMatch(/word-of/)
    expect(out).toContain('db.example/kith')
  }
})

test('fails with every problem of a wrong environment', async () => {
  await using line = await CommandLine.open({ LISTEN: 'here', LOG_LEVEL: 'loud' })
  const { exitCode, out, err } = await line.run(['config'])
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' })
  expect(err).toMatch(/LISTEN .*\n {2}LOG_LEVEL /)
})
