export { WelcomeLine } from './welcome-line.tsx'
