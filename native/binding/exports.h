// The exported functions, by the file that defines them. lib/boundary/native.ts describes them; addon.cc names them.
#pragma once

#include <napi.h>

#include "binding/error_translator.h"

namespace lorekeep::binding {

Exported backends, ggml_version, load_gpu_plugin;  // backends_binding.cc
ExportedProcedure try_gpu, choose_gpu;
Exported read_change_log, lock_file, identify_file_content, file_sizes;  // change_log_binding.cc
ExportedProcedure seal_changes;
Exported open_file_beneath;                                                      // beneath_binding.cc
Exported install_crash_handler;                                                  // crash_binding.cc
Exported remove_strays, check_destination;                                       // destination_binding.cc
Exported load_embedding_model;                                                   // embedding_model_binding.cc
Exported match_embeddings, index_embeddings, find_embeddings, unite_embeddings;  // embedding_rows_binding.cc
Exported describe_file, describe_model;                                          // file_description_binding.cc
Exported check_grammar, match_grammar, probe_vocabulary;                         // grammar_binding.cc
Exported load_language_model, estimate_language_model;                           // language_model_binding.cc
Exported plain_text;                                                             // lexical_binding.cc
Exported read_records, open_indexed_records, index_records;                      // records_binding.cc
Exported check_records;
Exported load_reranker;                                           // reranker_binding.cc
Exported load_voice_detector, load_recogniser, speech_languages;  // speech_binding.cc
ExportedProcedure configure_scheduler, set_throttle;              // scheduler_binding.cc
Exported scheduler_stats;
Exported build_storage, assemble_storage;                                          // storage_binding.cc
Exported build_text_index, load_text_index, tokenize;                              // text_index_binding.cc
Exported build_vector_index, load_vector_index, import_hnswlib, distance_kernels;  // vector_index_binding.cc

/// Define the classes of these names, which no other file uses.
Napi::Function define_language_model(Napi::Env env);
Napi::Function define_reranker(Napi::Env env);
Napi::Function define_voice_stream(Napi::Env env);
Napi::Function define_voice_model(Napi::Env env);
Napi::Function define_recogniser(Napi::Env env);

/// Adds the functions of this edition of the addon: the development edition can crash the process on request.
void add_edition_functions(Napi::Env env, Napi::Object exports);

}  // namespace lorekeep::binding
