import { allContracts, openApiDocument } from '@kith/protocol'
import { version } from '../version.ts'
import type { Command } from './command.ts'

export const openapi: Command = {
  name: 'openapi',
  summary: 'Print the OpenAPI document of the API.',
  description:
    'It is the document that a running server answers at `/api/openapi.json`, with or without `--json`.',
  positionals: [],
  options: {},
  async run() {
    const document = openApiDocument(allContracts, { title: 'Kith', version, serverUrl: '/' })
    return { text: JSON.stringify(document, undefined, 2).split('\n'), data: document }
  },
}
