export { appPaths } from './app-paths.ts'
export { openWebApp, type WebApp } from './web-app.ts'
export { appForReturning, webAppRoutes } from './web-app-routes.ts'
