import packageJson from '../../package.json' with { type: 'json' }

/** The version of the program, as `serverInfo` and `User-Agent` tell it. */
export const version: string = packageJson.version
