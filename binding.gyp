# For tools that expect `node-gyp rebuild`: CMake builds everything, in .cmake/. Not part of the package.
{
  'targets': [
    {
      'target_name': 'lorekeep',
      'type': 'none',
      'actions': [
        {
          'action_name': 'build',
          'inputs': [],
          'outputs': ['<(PRODUCT_DIR)/lorekeep.node'],
          'action': ['node', 'scripts/build-native.mjs'],
        },
      ],
    },
  ],
}
