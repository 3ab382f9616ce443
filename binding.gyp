{
  "targets": [
    {
      "target_name": "lorekeep",
      "type": "none",
      "actions": [
        {
          "action_name": "build_native",
          "inputs": ["CMakeLists.txt", "scripts/build-native.mjs"],
          "outputs": ["<(PRODUCT_DIR)/lorekeep.node"],
          "action": ["node", "scripts/build-native.mjs"]
        }
      ]
    }
  ]
}
