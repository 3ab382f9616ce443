// lorekeep_grammar_bench ADDON_FOLDER MODEL CASES [VOCABULARY]: for every CASES/NAME.gbnf, the processor time to compile it and to
// find the allowed tokens before each token of NAME.txt, with lorekeep and with llama.cpp's grammar sampler. A line per
// engine, case and pass: engine, case, pass, tokens, microseconds to compile, then of each token. The second pass is
// another reply of the same grammar. VOCABULARY gets the bytes of the model's tokens, hexadecimal, a line
// each, `-` for control tokens; NAME.tokens gets the ids of the tokens of NAME.txt.
#include <llama.h>

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/backends.h"
#include "lm/grammar/constraint.h"
#include "lm/grammar/mask_store.h"
#include "lm/prompt/prompt.h"
#include "lm/text/tokens.h"

namespace {

using namespace lorekeep;

double now_us() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void print(const char* engine, const std::string& name, int pass, double compile_us, const std::vector<double>& times) {
  std::printf("%s\t%s\t%d\t%zu\t%.1f", engine, name.c_str(), pass, times.size(), compile_us);
  for (const double time : times) std::printf("\t%.1f", time);
  std::printf("\n");
  std::fflush(stdout);
}

struct Case {
  std::string name;
  std::string grammar;
  std::vector<lm::Token> tokens;
};

// The mask before every token. lorekeep itself computes it only after a token that is not allowed was drawn.
void time_lorekeep(const Case& one, const std::shared_ptr<const lm::TokenTable>& table) {
  const auto store = std::make_shared<lm::MaskStore>(table);
  for (int pass = 1; pass <= 2; ++pass) {
    const double begin = now_us();
    lm::ReplyRules rules;
    rules.grammar = store->grammar(one.grammar);
    const auto constraint = lm::constrain_reply(rules, table, store);
    const double compile_us = now_us() - begin;
    std::vector<double> times;
    std::vector<float> logits(table->size());
    for (const lm::Token token : one.tokens) {
      std::fill(logits.begin(), logits.end(), 1.0f);
      const double start = now_us();
      lm::Allowance work;
      constraint->prepare(work);
      constraint->mask(logits);
      const bool allowed = constraint->allows(token, work).value();
      constraint->accept(token);
      times.push_back(now_us() - start);
      if (!allowed || logits[static_cast<std::size_t>(token)] < 0) {
        std::fprintf(stderr, "lorekeep refuses token %d of %s\n", token, one.name.c_str());
        return;
      }
    }
    print("lorekeep", one.name, pass, compile_us, times);
  }
}

void time_llama(const Case& one, const llama_vocab* vocabulary) {
  const auto size = static_cast<std::size_t>(llama_vocab_n_tokens(vocabulary));
  for (int pass = 1; pass <= 2; ++pass) {
    const double begin = now_us();
    llama_sampler* const grammar = llama_sampler_init_grammar(vocabulary, one.grammar.c_str(), "root");
    if (grammar == nullptr) return;
    const double compile_us = now_us() - begin;
    std::vector<double> times;
    std::vector<llama_token_data> data(size);
    for (const lm::Token token : one.tokens) {
      for (std::size_t i = 0; i < size; ++i) data[i] = {static_cast<llama_token>(i), 1.0f, 0.0f};
      llama_token_data_array candidates{data.data(), size, -1, false};
      const double start = now_us();
      llama_sampler_apply(grammar, &candidates);
      const bool allowed = data[static_cast<std::size_t>(token)].logit > 0;
      if (allowed) llama_sampler_accept(grammar, token);
      times.push_back(now_us() - start);
      if (!allowed) {
        std::fprintf(stderr, "llama.cpp refuses token %d of %s\n", token, one.name.c_str());
        llama_sampler_free(grammar);
        return;
      }
    }
    llama_sampler_free(grammar);
    print("llama.cpp", one.name, pass, compile_us, times);
  }
}

void write_vocabulary(const lm::TokenTable& table, const char* path) {
  std::ofstream file(path);
  for (lm::Token token = 0; token < static_cast<lm::Token>(table.size()); ++token) {
    if (table.kind(token) != lm::TokenKind::kText) {
      file << "-\n";
      continue;
    }
    char hex[3];
    for (const char byte : table.bytes(token)) {
      std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      file << hex;
    }
    file << "\n";
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) {
    std::fprintf(stderr, "usage: lorekeep_grammar_bench ADDON_FOLDER MODEL CASES [VOCABULARY]\n");
    return 2;
  }
  const auto backends = engine::Backends::acquire(arguments[1]);
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_model* const model = llama_model_load_from_file(arguments[2], params);
  if (model == nullptr) return 1;
  const lm::Tokens tokens(*model);
  const std::shared_ptr<const lm::TokenTable> table = lm::read_token_table(tokens, {});
  if (count > 4) write_vocabulary(*table, arguments[4]);
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[3])) {
    if (entry.path().extension() == ".gbnf") files.insert(entry.path());
  }
  for (const std::filesystem::path& path : files) {
    const std::string text = read_file(std::filesystem::path(path).replace_extension(".txt"));
    Case one{path.stem().string(), read_file(path), {}};
    one.tokens.resize(text.size() + 1);
    const int made = llama_tokenize(tokens.vocabulary(), text.data(), static_cast<int>(text.size()), one.tokens.data(),
                                    static_cast<int>(one.tokens.size()), false, false);
    one.tokens.resize(static_cast<std::size_t>(std::max(made, 0)));
    std::ofstream ids(std::filesystem::path(path).replace_extension(".tokens"));
    for (const lm::Token token : one.tokens) ids << token << ' ';
    time_lorekeep(one, table);
    time_llama(one, tokens.vocabulary());
  }
  llama_model_free(model);
  return 0;
}
