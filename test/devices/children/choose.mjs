// argv: the name of a backend. Chooses it and prints the choice as one line of JSON.
import { useBackend } from 'lorekeep';

const tell = (found) => console.log(JSON.stringify(found));
try {
  tell(await useBackend(process.argv[2]));
} catch (error) {
  tell({ code: error.code, message: error.message, candidates: error.detail?.candidates });
}
