import fc from 'fast-check'
import { beforeEach } from 'vitest'
import { testSeed } from './test-seed.ts'

beforeEach(() => void fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed() }))
