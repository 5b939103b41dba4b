//@ case literals split within a name, an escaped quote and a trailing blank are kept byte for byte
//@ line box_a box(static_cast<Map *>(t->in_desc_pointers[2][0]), "x\n"); 
//@ line     box, 
//@ line );
int Planner::emit_box(Graph const &graph) {
  Writer code;
  code.e("box_a box(static_cast<Map *>(t->in_des"
         "c_pointers[2]" "[0]), \"x\\n\"); ");
  code.e("    box, ");
  code.e(");");
  return add(code.to_string());
}
